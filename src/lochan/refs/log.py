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

A page that begins after a commit walks to it from the top. A bookmark saves that: it names the
commits that wait behind the page, and the next page begins with them. This is exact while every
commit is newer than its parents, since then the log is all commits by date and id, and what was
given cannot come again. Where a clock went wrong and a parent turns out newer than its child, that
no longer holds: the walk is made once more from the top, and bookmarks from there on carry nothing.
"""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import msgspec

from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import CommitId
from lochan.model.instant import Instant
from lochan.model.records import Commit
from lochan.refs.commits import get_commit
from lochan.refs.tables import RepositoryTables

# The parent of a first commit is None: it is compared with the empty tree.
Touches = Callable[[Commit, Commit | None], bool]
# A bookmark goes to clients and comes back, so it names no more commits than this.
_MOST_WAITING = 500


class Bookmark(msgspec.Struct, frozen=True):
    """The last commit of a page, and those that wait behind it; none: walk from the top."""

    after: CommitId
    waiting: tuple[CommitId, ...] = ()


@dataclass(frozen=True, slots=True)
class LogPage:
    """Some commits of a log; without `following` there are no more. The last page may be empty."""

    commits: tuple[Commit, ...]
    following: Bookmark | None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a history; see the module."""

    commit_id: CommitId
    first_parent: bool = False
    since: Instant | None = None
    stop_at: CommitId | None = None
    touches: Touches | None = None


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
    asked = Question(commit_id, first_parent, since, stop_at, touches)
    if limit is not None and limit < 0:
        raise InvalidInput(f"a log cannot have {limit} commits", code="invalid-limit", limit=limit)
    walk = _Walk(tables, asked)
    return islice(_from(walk, after), limit)


def log_page(
    tables: RepositoryTables, asked: Question, limit: int, after: Bookmark | None = None
) -> LogPage:
    """Give a page of a log, and a bookmark for the next one, which must ask the same question.

    Raises: as `log`; InvalidInput for a limit below one.
    """
    if limit < 1:
        message = f"a page of a log has at least one commit, not {limit}"
        raise InvalidInput(message, code="invalid-limit", limit=limit)
    walk = _Walk(tables, asked, after.waiting if after else ())
    begin = after.after if after and not after.waiting else None
    if after and after.after == asked.stop_at:
        return LogPage((), None)
    found = tuple(islice(_from(walk, begin), limit))
    return LogPage(found, walk.bookmark())


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A commit to be given; a heap gives the least first, so the newest is the least."""

    commit: Commit

    def __lt__(self, other: "_Waiting") -> bool:
        return _when(self.commit) > _when(other.commit)


def _when(commit: Commit) -> tuple[Instant, CommitId]:
    return commit.creation_date, commit.id


class _Walk:
    """All commits of a log, newest first, before any of them is left out."""

    def __init__(
        self, tables: RepositoryTables, asked: Question, waiting: tuple[CommitId, ...] = ()
    ) -> None:
        self.tables = tables
        self.asked = asked
        self._queue: list[_Waiting] = []
        self._waiting: set[CommitId] = set()
        self._met: set[CommitId] = set()
        self._last: Commit | None = None
        self._given: CommitId | None = None
        self._ended = False
        self._resumed = bool(waiting)
        self._in_order = True  # no commit met so far was newer than the child that led to it
        for commit_id in waiting or (asked.commit_id,):
            self._meet(commit_id)

    def next(self) -> Commit | None:
        """Give the next commit; None at the end."""
        self._look_behind()
        if not self._queue or self._ended:
            return None
        commit = heapq.heappop(self._queue).commit
        self._waiting.discard(commit.id)
        self._last, self._given = commit, commit.id
        self._ended = commit.id == self.asked.stop_at
        return commit

    def bookmark(self) -> Bookmark | None:
        """Say where to go on; None at the end."""
        self._look_behind()
        if not self._queue or self._ended or self._given is None:
            return None
        plain = self._in_order and len(self._waiting) <= _MOST_WAITING
        return Bookmark(self._given, tuple(sorted(self._waiting)) if plain else ())

    def _look_behind(self) -> None:
        """Meet the parents of the commit that was given last."""
        commit, self._last = self._last, None
        if commit is None or self._ended:
            return
        for parent in commit.parents[: 1 if self.asked.first_parent else None]:
            self._meet(parent, commit)
        if self._resumed and not self._in_order:
            self._begin_again(commit.id)

    def _meet(self, commit_id: CommitId, child: Commit | None = None) -> None:
        if commit_id in self._met:
            return
        self._met.add(commit_id)
        commit = get_commit(self.tables, commit_id)
        if child is not None and _when(commit) > _when(child):
            self._in_order = False
        if self.asked.since is None or commit.creation_date >= self.asked.since:
            heapq.heappush(self._queue, _Waiting(commit))
            self._waiting.add(commit_id)

    def _begin_again(self, given: CommitId) -> None:
        """Take the state of a walk from the top that has just given a commit."""
        whole = _Walk(self.tables, self.asked)
        while (commit := whole.next()) is not None and commit.id != given:
            pass
        whole._look_behind()
        self._queue, self._waiting, self._met = whole._queue, whole._waiting, whole._met
        self._resumed = False


def _from(walk: _Walk, after: CommitId | None) -> Iterator[Commit]:
    """Give the commits of a walk behind one of them, but for those that touch nothing."""
    if after is not None:
        _skip(walk, after)
    touches = walk.asked.touches
    while (commit := walk.next()) is not None:
        if touches is None or _touched(walk.tables, commit, touches):
            yield commit


def _skip(walk: _Walk, after: CommitId) -> None:
    while (commit := walk.next()) is not None:
        if commit.id == after:
            return
    message = f"commit {after} is not in this log; begin again without it"
    raise NotFound(message, code="commit-not-found", commit=after)


def _touched(tables: RepositoryTables, commit: Commit, touches: Touches) -> bool:
    if len(commit.parents) > 1:
        return False
    parent = get_commit(tables, commit.parents[0]) if commit.parents else None
    return touches(commit, parent)
