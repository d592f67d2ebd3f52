# SPDX-License-Identifier: Apache-2.0
"""The log of a ref, page by page, and of some paths only if those are asked for.

Which commits touched a path is seen by comparing each with its parent: one key by two look-ups, a
prefix by the first difference below it. Trees that are equal, which most of them are below a given
prefix, share their files and are not opened.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lochan.committed.interval import Interval
from lochan.model.ids import EMPTY_TREE, CommitId
from lochan.model.instant import Instant
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.reference import committed
from lochan.refs.log import Touches, log


@dataclass(frozen=True, slots=True)
class LogRequest:
    """Which commits are wanted: what `lochan.refs.log` says, with refs and paths.

    A commit counts if it changed one of the objects, or anything below one of the prefixes.
    """

    amount: int
    after: CommitId | None = None
    objects: Sequence[bytes] = ()
    prefixes: Sequence[bytes] = ()
    first_parent: bool = False
    since: Instant | None = None
    stop_at: str = ""
    exactly: bool = False  # look for no commit behind the last, which may be far away


@dataclass(frozen=True, slots=True)
class LogPage:
    """Some commits, newest first, and whether more follow."""

    commits: tuple[Commit, ...]
    has_more: bool


def log_commits(lake: Lake, repository: Repository, ref: str, request: LogRequest) -> LogPage:
    """Give a page of a ref's history.

    Raises: NotFound for a ref, or for `after` when it is not in this log; InvalidInput.
    """
    stop_at = committed(lake, repository, request.stop_at) if request.stop_at else None
    found = log(
        lake.tables(repository),
        committed(lake, repository, ref),
        first_parent=request.first_parent,
        since=request.since,
        stop_at=stop_at,
        after=request.after,
        limit=request.amount + (not request.exactly),
        touches=_touches(lake, repository, request),
    )
    commits = tuple(found)
    return LogPage(commits[: request.amount], len(commits) > request.amount)


def _touches(lake: Lake, repository: Repository, request: LogRequest) -> Touches | None:
    if not request.objects and not request.prefixes:
        return None
    snapshots = lake.storage(repository.storage_namespace).snapshots

    def touches(commit: Commit, parent: Commit | None) -> bool:
        before = parent.meta_range_id if parent else EMPTY_TREE
        after = commit.meta_range_id
        if before == after:
            return False
        for key in request.objects:
            old, new = snapshots.get(before, key), snapshots.get(after, key)
            if (old and old.identity) != (new and new.identity):
                return True
        return any(
            len(some)
            for prefix in request.prefixes
            for some in snapshots.diff(before, after, Interval.under(prefix))
        )

    return touches
