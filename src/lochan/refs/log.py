# SPDX-License-Identifier: Apache-2.0
"""History as people read it: newest first.

Of all commits that have a child in the log so far, the one with the latest creation date comes
next, and of equal dates the one with the greater id. Each commit comes once. A clock that went
wrong changes the order, never what is given (but for `since`, which trusts dates).

    since      older commits are not given and not looked behind
    stop_at    the last commit to be looked at, whether or not it is given
    after      nothing is given up to and including this commit; it must be in the log
    touches    only commits that changed what the caller asks about, compared with their parent;
               merges are left out, as in lakeFS: what they bring in has a commit of its own
    limit      at most so many are given

Each is applied to the log as the ones above it leave it, so pages (a limit, then `after` the last
one given) put together are the whole.
"""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import CommitId
from lochan.model.instant import Instant
from lochan.model.records import Commit
from lochan.refs.commits import get_commit
from lochan.refs.tables import RepositoryTables

# The parent of a first commit is None: it is compared with the empty tree.
Touches = Callable[[Commit, Commit | None], bool]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A commit to be given; a heap gives the least first, so the newest is the least."""

    commit: Commit

    def __lt__(self, other: "_Waiting") -> bool:
        mine, theirs = self.commit, other.commit
        return (mine.creation_date, mine.id) > (theirs.creation_date, theirs.id)


def log(  # noqa: PLR0913 - the questions that people ask of a history, each by name
    tables: RepositoryTables,
    commit_id: CommitId,
    *,
    first_parent: bool = False,
    since: Instant | None = None,
    stop_at: CommitId | None = None,
    after: CommitId | None = None,
    limit: int | None = None,
    touches: Touches | None = None,
) -> Iterator[Commit]:
    """Give a commit and what led to it, newest first; see the module.

    Raises: NotFound when `after` is not in the log or a commit is missing; InvalidInput for a
    negative limit; what `touches` raises.
    """
    if limit is not None and limit < 0:
        raise InvalidInput(f"a log cannot have {limit} commits", code="invalid-limit", limit=limit)
    commits = _newest_first(tables, commit_id, since, first_parent=first_parent)
    if stop_at is not None:
        commits = _up_to(commits, stop_at)
    if after is not None:
        commits = _behind(commits, after)
    if touches is not None:
        commits = (commit for commit in commits if _touched(tables, commit, touches))
    return islice(commits, limit)


def _newest_first(
    tables: RepositoryTables, commit_id: CommitId, since: Instant | None, *, first_parent: bool
) -> Iterator[Commit]:
    queue: list[_Waiting] = []
    met: set[CommitId] = set()

    def meet(met_id: CommitId) -> None:
        if met_id in met:
            return
        met.add(met_id)
        commit = get_commit(tables, met_id)
        if since is None or commit.creation_date >= since:
            heapq.heappush(queue, _Waiting(commit))

    meet(commit_id)
    while queue:
        commit = heapq.heappop(queue).commit
        yield commit
        for parent in commit.parents[: 1 if first_parent else None]:
            meet(parent)


def _up_to(commits: Iterator[Commit], stop_at: CommitId) -> Iterator[Commit]:
    for commit in commits:
        yield commit
        if commit.id == stop_at:
            return


def _behind(commits: Iterator[Commit], after: CommitId) -> Iterator[Commit]:
    for commit in commits:
        if commit.id == after:
            yield from commits
            return
    message = f"commit {after} is not in this log; begin again without it"
    raise NotFound(message, code="commit-not-found", commit=after)


def _touched(tables: RepositoryTables, commit: Commit, touches: Touches) -> bool:
    if len(commit.parents) > 1:
        return False
    parent = get_commit(tables, commit.parents[0]) if commit.parents else None
    return touches(commit, parent)
