# SPDX-License-Identifier: Apache-2.0
r"""The verbs of 2016 that write: start a commit, put files into it, finish it.

opened = repository.pfs.start_commit(branch="main")
repository.pfs.put_file(opened.id, "log.txt", b"one more line\n")
commit = repository.pfs.finish_commit(opened.id)
"""

from collections.abc import Sequence
from typing import Literal

from lochan.client.commit import Commit, known_commit
from lochan.client.content import Progress, Uploadable, content_of
from lochan.client.pfs_reads import PfsReads
from lochan.shapes import commits
from lochan.shapes.pfs import (
    CancelCommit,
    DeleteFileQuery,
    FinishCommit,
    MergeCommits,
    MergedCommits,
    OpenCommit,
    PutFileQuery,
    StartCommit,
)
from lochan.shapes.provenance import Provenance


class Pfs(PfsReads):
    """The verbs of 2016 on one repository."""

    def start_commit(
        self,
        branch: str | None = None,
        *,
        parent: str | None = None,
        provenance: Sequence[Provenance] = (),
    ) -> OpenCommit:
        """Start a commit behind a parent, on a branch, or both; with neither, on a new branch."""
        body = StartCommit(parent=parent, branch=branch, provenance=list(provenance))
        return self._transport.call("POST", self._at("start-commit"), OpenCommit, body=body)

    def put_file(
        self,
        commit: str,
        path: str,
        data: Uploadable,
        *,
        mode: Literal["append", "overwrite"] = "append",
        progress: Progress | None = None,
    ) -> None:
        """Put bytes behind what a file of an open commit has, or instead of it."""
        content = content_of(data)
        once = type(content)(content.read, content.size, is_repeatable=False)
        query = PutFileQuery(commit=commit, path=path, mode=mode)
        headers = {"content-type": "application/octet-stream"}
        self._transport.upload(
            "POST", self._at("put-file"), once, query=query, headers=headers, progress=progress
        )

    def delete_file(self, commit: str, path: str) -> None:
        """Delete a file, or all that lies in a directory, in an open commit."""
        query = DeleteFileQuery(commit=commit, path=path)
        self._transport.send("DELETE", self._at("delete-file"), query=query)

    def finish_commit(
        self, commit: str, *, message: str = "", metadata: dict[str, str] | None = None
    ) -> Commit:
        """Publish an open commit; it takes no more files."""
        body = FinishCommit(id=commit, message=message, metadata=metadata or {})
        path = self._at("finish-commit")
        made = self._transport.call("POST", path, commits.Commit, body=body)
        return known_commit(self._transport, self.repository_id, made)

    def cancel_commit(self, commit: str, error: str = "cancelled") -> None:
        """Give up an open commit."""
        body = CancelCommit(id=commit, error=error)
        self._transport.send("POST", self._at("cancel-commit"), body=body)

    def merge_commits(
        self,
        from_commits: Sequence[str],
        branch: str | None = None,
        *,
        parent: str | None = None,
        squash: bool = False,
        message: str = "",
        metadata: dict[str, str] | None = None,
    ) -> list[Commit]:
        """Bring what commits did to a branch: a copy of each, or all as one."""
        body = MergeCommits(
            from_commits=list(from_commits),
            parent=parent,
            branch=branch,
            squash=squash,
            message=message,
            metadata=metadata or {},
        )
        made = self._transport.call("POST", self._at("merge-commits"), MergedCommits, body=body)
        return [known_commit(self._transport, self.repository_id, one) for one in made.commits]
