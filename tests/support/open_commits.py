# SPDX-License-Identifier: Apache-2.0
"""Short words for the verbs of seed 002, on a lake in memory."""

from lochan.model.ids import OpenCommitId
from lochan.model.records import Commit, OpenCommit
from lochan.operations.lake import Lake
from lochan.operations.open_commits.delete_file import delete_file
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.inspect_file import get_file
from lochan.operations.open_commits.merge_commits import merge_commits
from lochan.operations.open_commits.put_file import Mode, put_file
from lochan.operations.open_commits.start_commit import start_commit
from support.lakes import Stage, open_stage

DELETE = None  # in place of bytes: the path is deleted


class Desk:
    """A stage with its verbs."""

    def __init__(self, stage: Stage | None = None) -> None:
        """Work on a stage, or on a new one."""
        self.stage = stage or open_stage()
        self.where = (self.stage.lake, self.stage.repository)

    def over(self, lake: Lake) -> "Desk":
        """Give the same repository as another lake sees it."""
        return Desk(Stage(lake, self.stage.repository, self.stage.storage))

    def start(self, parent: str | None = None, branch: str | None = None) -> OpenCommit:
        return start_commit(*self.where, parent, branch)

    def put(self, opened: OpenCommit, path: str, body: bytes, mode: Mode = Mode.APPEND) -> None:
        put_file(*self.where, opened.id, path, body, mode=mode)

    def delete(self, opened: OpenCommit, path: str) -> None:
        delete_file(*self.where, opened.id, path)

    def finish(self, opened: OpenCommit | OpenCommitId) -> Commit:
        open_id = opened.id if isinstance(opened, OpenCommit) else opened
        return finish_commit(*self.where, open_id)

    def commit(
        self, parent: str | None = None, branch: str | None = None, **files: bytes | None
    ) -> Commit:
        """Make a commit of some files; a double underscore in a name is a slash."""
        opened = self.start(parent, branch)
        for name, body in files.items():
            path = name.replace("__", "/")
            if body is DELETE:
                self.delete(opened, path)
            else:
                self.put(opened, path, body)
        return self.finish(opened)

    def merge(
        self,
        *sources: Commit,
        parent: str | None = None,
        branch: str | None = None,
        squash: bool = False,
    ) -> tuple[Commit, ...]:
        names = [source.id for source in sources]
        return merge_commits(*self.where, names, parent, branch, squash=squash)

    def read(self, path: str, to: Commit | str, since: Commit | None = None) -> bytes:
        name = to if isinstance(to, str) else to.id
        with get_file(*self.where, path, name, since.id if since else None) as reading:
            return reading.read()

    def files(self, commit: Commit) -> dict[str, bytes]:
        """Read all files of a commit."""
        cursor = self.stage.storage.snapshots.cursor(commit.meta_range_id)
        return {row.key.decode(): self.read(row.key.decode(), commit) for row in cursor}

    def head(self, branch: str = "main") -> Commit:
        tables = self.stage.lake.tables(self.stage.repository)
        name = tables.branches.get(branch.encode()).record.commit_id
        return tables.commits.get(name.encode()).record
