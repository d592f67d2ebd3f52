# SPDX-License-Identifier: Apache-2.0
"""What became of an open commit, and how its record comes to say so.

The branch's compare-and-swap decides, and the record follows; a crash in between leaves it behind.
But before the branch is asked, the record names the commit that it is to be moved to. So whoever
comes next asks the clock index of each that is named whether it was published, and never publishes
twice. That answer stays, whatever became of the branch: what was published and then left behind by
a reset, or went with its branch, was published, and is not brought back.

A record that says "failed" may be wrong: it was written when nothing was published, but whoever had
named a commit by then may have moved the branch after that, and died. So such a record is asked,
too; it keeps its attempts.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from lochan.model.clock import own
from lochan.model.ids import CommitId, StagingToken
from lochan.model.records import Commit, OpenCommit, Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.writing import not_open
from lochan.refs.clock_index import ClockIndex
from lochan.refs.commits import get_commit
from lochan.refs.notes import note_open_commit
from lochan.refs.open_commits import State, open_commits, state_of

NO_COMMIT: Final = CommitId("")
MARK: Final = ".lochan.open-commit"


def find_published(lake: Lake, repository: Repository, opened: OpenCommit) -> Commit | None:
    """Look for the commit that came of an open one, on its branch or left behind.

    Exact for what was published before the record was read, also where that says that it failed.
    """
    if opened.commit_id:
        return get_commit(lake.tables(repository), opened.commit_id)
    index = ClockIndex.of(lake.store, repository)
    for tried in attempts_of(lake, repository, opened):
        if index.find(own(tried)) == tried.id:
            return tried
    return None


def attempts_of(lake: Lake, repository: Repository, opened: OpenCommit) -> Iterator[Commit]:
    """Give the commits that somebody tried to make of an open one.

    Without those that have no record: it is written before the branch is asked.
    """
    commits = lake.tables(repository).commits
    found = (commits.find(tried.encode()) for tried in opened.attempts)
    return (stored.record for stored in found if stored is not None)


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
    Raises: Conflict, code not-open, when somebody has gone on finishing a commit since it was read
    by who says that it failed.
    """
    if opened.staging_token:
        note_open_commit(lake.store, lake.environment, repository, opened)

    def ended(current: OpenCommit | None) -> OpenCommit | None:
        if current is None or state_of(current) is State.PUBLISHED:
            return current
        if error and state_of(current) is State.FINISHING and not _is_as_read(current, opened):
            raise not_open(current)
        return msgspec.structs.replace(
            current, commit_id=commit_id, error=error, staging_token=StagingToken("")
        )

    ends = {State.PUBLISHED, State.FAILED} if error else {State.PUBLISHED}
    open_commits(lake.store, repository).update(
        opened.id.encode(),
        ended,
        lake.environment,
        landed=lambda now: now is None or state_of(now) in ends,
    )


def _is_as_read(current: OpenCommit, opened: OpenCommit) -> bool:
    return state_of(opened) is State.FINISHING and current.attempts == opened.attempts
