# SPDX-License-Identifier: Apache-2.0
"""All that led to a commit: seed 000's commit_iterator, breadth first, one get for each commit.

The commit itself comes first, then its parents in their order, then theirs; each commit once, where
it is met first. It is not an iteration over keys: nothing but `get` is asked of the store.
"""

from collections import deque
from collections.abc import Iterator

from lochan.errors import NotFound
from lochan.model.ids import CommitId
from lochan.model.records import Commit
from lochan.refs.commits import get_commit
from lochan.refs.tables import RepositoryTables


def ancestry(
    tables: RepositoryTables, commit_id: CommitId, start: CommitId | None = None
) -> Iterator[Commit]:
    """Give a commit and its ancestors, from the one that is `start` on if that is given.

    Raises: NotFound, when `start` is not among them or a commit is missing.
    """
    waiting = deque([commit_id])
    met = {commit_id}
    begun = start is None
    while waiting:
        commit = get_commit(tables, waiting.popleft())
        begun = begun or commit.id == start
        if begun:
            yield commit
        fresh = [parent for parent in dict.fromkeys(commit.parents) if parent not in met]
        met.update(fresh)
        waiting.extend(fresh)
    if not begun:
        message = f"commit {start} is no ancestor of {commit_id}"
        raise NotFound(message, code="commit-not-found", commit=start)
