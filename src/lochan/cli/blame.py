# SPDX-License-Identifier: Apache-2.0
"""Which commit last changed each object: history is walked back until all are found.

Every commit on the way holds the paths that may be its own, the newest commit all of them. Of
these a parent takes over the ones in which it does not differ; what no parent takes, the commit
itself changed. Commits are looked at from the newest generation down, so that all paths that lead
to a commit have arrived before it is. One diff a parent is all that it costs, and none where two
commits have the same tree.
"""

import heapq
from collections.abc import Callable
from typing import NamedTuple

from lochan.client.commit import Commit
from lochan.client.reference import Reference
from lochan.client.repository import Repository

Progress = Callable[[int, int | None], object]
"""Told of objects: for how many a commit was found, and how many there are."""


class Blamed(NamedTuple):
    """An object, and the commit that last changed it."""

    path: str
    commit: Commit


def blame(
    repository: Repository,
    reference: Reference,
    prefix: str,
    *,
    first_parent: bool = False,
    progress: Progress | None = None,
) -> list[Blamed]:
    """Find the commit that last changed each object that is committed under a prefix."""
    newest = reference.get_commit()
    tree = repository.ref(newest)
    paths = {one.path for one in tree.objects(prefix, user_metadata=False)}
    walk = _Walk(repository, newest, prefix, paths)
    found: list[Blamed] = []
    while (step := walk.next()) is not None:
        commit, own = step
        for parent in commit.parents[: 1 if first_parent else None]:
            own = walk.hand_on(commit, parent, own)
        found.extend(Blamed(path, commit) for path in own)
        if progress is not None:
            progress(len(found), len(paths))
    return sorted(found)


class _Walk:
    """Commits that hold paths, newest generation first."""

    def __init__(
        self, repository: Repository, newest: Commit, prefix: str, paths: set[str]
    ) -> None:
        self._repository = repository
        self._prefix = prefix
        self._known = {newest.id: newest}
        # The log tells commits a page at a time, where asking for each would be a request each.
        self._log = repository.ref(newest).log()
        self._held: dict[str, set[str]] = {}
        self._queue: list[tuple[int, str]] = []
        self._hold(newest, paths)

    def next(self) -> tuple[Commit, set[str]] | None:
        """Give the newest commit that holds paths, and these."""
        if not self._queue:
            return None
        _, commit_id = heapq.heappop(self._queue)
        return self._known[commit_id], self._held.pop(commit_id)

    def hand_on(self, commit: Commit, parent_id: str, own: set[str]) -> set[str]:
        """Let a parent hold what it has alike, and give the others."""
        if not own:
            return own
        parent = self._commit(parent_id)
        changed: set[str] = set()
        if parent.meta_range_id != commit.meta_range_id:
            before = self._repository.ref(parent)
            changes = before.diff(commit, type_="two_dot", prefix=self._prefix)
            changed = {one.path for one in changes}
        self._hold(parent, own - changed)
        return own & changed

    def _hold(self, commit: Commit, paths: set[str]) -> None:
        if not paths:
            return
        if commit.id not in self._held:
            self._held[commit.id] = set()
            heapq.heappush(self._queue, (-commit.record.generation, commit.id))
        self._held[commit.id] |= paths

    def _commit(self, commit_id: str) -> Commit:
        while commit_id not in self._known:
            commit = next(self._log, None) or self._repository.commit(commit_id)
            self._known[commit.id] = commit
        return self._known[commit_id]
