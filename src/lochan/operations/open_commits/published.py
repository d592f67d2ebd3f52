# SPDX-License-Identifier: Apache-2.0
"""What became of an open commit, and how its record comes to say so.

The branch's compare-and-swap decides, and the record follows; a crash in between leaves it behind.
The commit carries the open commit's id in its metadata, so whoever comes next finds it on the
branch, among the commits made since finishing began, and never publishes it twice.
"""

from typing import Final

import msgspec

from lochan.model.ids import CommitId, StagingToken
from lochan.model.records import Commit, OpenCommit, Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.writing import not_open
from lochan.refs.notes import note_open_commit
from lochan.refs.open_commits import State, open_commits, state_of

NO_COMMIT: Final = CommitId("")
MARK: Final = ".lochan.open-commit"


def find_published(
    lake: Lake, repository: Repository, opened: OpenCommit, head: Commit | None
) -> Commit | None:
    """Look for the commit that came of an open one, from a head down its first parents."""
    commits, found = lake.tables(repository).commits, head
    while found is not None and found.generation > opened.generation:
        if found.metadata.get(MARK) == opened.id:
            return found
        found = commits.get(found.parents[0].encode()).record if found.parents else None
    return None


def find_on_branch(lake: Lake, repository: Repository, opened: OpenCommit) -> Commit | None:
    """Look for the commit that came of an open one on its branch, which need not be there."""
    tables = lake.tables(repository)
    branch = tables.branches.find(opened.branch.encode())
    if branch is None:
        return None
    head = tables.commits.get(branch.record.commit_id.encode()).record
    return find_published(lake, repository, opened, head)


def close(
    lake: Lake,
    repository: Repository,
    opened: OpenCommit,
    *,
    commit_id: CommitId = NO_COMMIT,
    error: str = "",
) -> None:
    """Write down that a commit was published, or failed, and give its token to the cleaner.

    The token is noted before the record ceases to name it (H10). What is published stays so.
    Raises: Conflict, code not-open, when a commit that was open to its canceller is being finished.
    """
    note_open_commit(lake.store, lake.environment, repository, opened)

    def ended(current: OpenCommit | None) -> OpenCommit | None:
        if current is None or state_of(current) is State.PUBLISHED:
            return current
        if error and state_of(opened) is State.OPEN and state_of(current) is State.FINISHING:
            raise not_open(current)
        return msgspec.structs.replace(
            current, commit_id=commit_id, error=error, staging_token=StagingToken("")
        )

    open_commits(lake.store, repository).update(
        opened.id.encode(),
        ended,
        lake.environment,
        landed=lambda now: now is None or state_of(now) in {State.PUBLISHED, State.FAILED},
    )
