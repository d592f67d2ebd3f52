# SPDX-License-Identifier: Apache-2.0
"""Stage a row where what the branch shows meets a condition (H5).

        look          what the branch shows, stably, meets the condition, or is our own row
        write         by compare-and-swap on the staged row: of two with one condition one wins
        look again    if the branch was moved since: what our row covers must meet it, too

Without a row of its own under the token, a key shows what lies below, and the swap knows nothing of
that. Commits and compactions only put it elsewhere. A merge, an import, a reset may bring something
else between look and write; the record counts them (`moves`, `resets`). Then our row is taken back.

If a seal made us write again, our own row of the first time is no conflict, and a staged row that
changed is looked at again: a refusal always means that the condition fails on what somebody else
brought. Where a merge brought the object, and a commit sealed our row before it could be taken
back, nobody can tell which came first: that is a Conflict, and the row may be committed.
"""

from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

import msgspec

from lochan.errors import Conflict, PredicateFailed, Unavailable
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey, StagingToken
from lochan.model.records import Branch, Repository, StagedEntry
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.stage import stage
from lochan.operations.view import (
    find_record,
    is_same_view,
    nothing_brought,
    read_stably,
    tokens_of,
    tree_under,
)
from lochan.refs.outcomes import begun
from lochan.staging.layers import layers_of

# A lost race means that somebody else's write went through, so that this bounds only a storm.
ATTEMPTS = 100


def stage_if(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    staged: StagedEntry,
    condition: Condition,
) -> None:
    """Stage an entry, or a tombstone, where what the branch shows meets a condition.

    Raises: PredicateFailed; Conflict, code write-overtaken, when the row may be committed though
    the condition no longer held; as `stage`.
    """
    ours = msgspec.structs.replace(staged, mark=lake.environment.new_id())
    stage(lake, repository, branch, _Conditional(lake, repository, branch, ours, condition))


class _Conditional:
    """One conditional write, repeated under another token after a seal."""

    def __init__(
        self,
        lake: Lake,
        repository: Repository,
        branch: BranchName,
        staged: StagedEntry,
        condition: Condition,
    ) -> None:
        self._lake = lake
        self._where = (repository, branch)
        self._staged = staged
        self._condition = condition
        self._ours: Record | None = None  # as it shows
        if not staged.is_tombstone:
            self._ours = Record(staged.key, staged.identity, staged.data)

    def __call__(self, token: StagingToken) -> None:
        """Write under a token if what the branch shows meets the condition, or is ours already."""
        repository, branch = self._where
        key = ObjectKey(self._staged.key)
        for _ in range(ATTEMPTS):
            row = self._lake.staging.find(token, key)
            judged = require_condition(self._lake, repository, branch, key, self._condition_or_ours)
            try:
                self._lake.staging.set_if(token, self._staged, row[1] if row else None)
            except PredicateFailed:  # what was written meanwhile may meet the condition
                continue
            if row is None:
                with begun(f"a write to branch {branch!r}"):
                    self._judge_below(token, judged)
            return
        raise Unavailable(f"object {self._staged.key!r} was written {ATTEMPTS} times meanwhile")

    def _judge_below(self, token: StagingToken, judged: Branch) -> None:
        """Judge again what our row covers, if anything but writers changed the branch since.

        A merge may have brought the object after it was judged and before our row came: then that
        is taken back. Commits bring nothing that was not there to be judged; what a sealed token
        holds is no reason to refuse (H4).
        """
        repository, branch = self._where
        key = self._staged.key
        current = self._fresh()
        for _ in range(ATTEMPTS):
            if nothing_brought(judged, current):
                return
            tokens = tokens_of(current)
            if token not in tokens:
                self._judge_behind(judged, current)
                return
            (layer,) = layers_of(current, (token,))
            if layer.hiding(key):  # it was reset, and is judged again under the token that came
                return
            older = tokens[tokens.index(token) + 1 :]
            below = find_record(self._lake, repository, current, key, older)
            looked, current = current, self._fresh()
            if not is_same_view(looked, current):
                continue
            if self._condition_or_ours(below):
                return
            self._take_back(token)
            if self._fresh().staging_token == token:
                raise _changed(ObjectKey(key), branch)
            raise _overtaken(ObjectKey(key), branch)
        raise Unavailable(f"branch {branch!r} changed {ATTEMPTS} times meanwhile; try again")

    def _judge_behind(self, judged: Branch, current: Branch) -> None:
        """Judge what our row covered in the tree that took it before we could look, if one did.

        Else it came too late for any, or was reset, and will never show.
        """
        _, branch = self._where
        shown = [self._in_tree(tree) for tree in self._trees(judged, current)]
        for upper, below in pairwise(shown):
            if upper == self._ours != below:
                if below != shown[-1] and not self._condition(below):
                    raise _overtaken(ObjectKey(self._staged.key), branch)
                return

    def _trees(self, judged: Branch, current: Branch) -> Iterator[MetaRangeId]:
        """Give the trees of a branch from now back to when it was judged."""
        repository, _ = self._where
        commits = self._lake.tables(repository).commits
        yield tree_under(self._lake, repository, current)
        name = current.commit_id
        for _ in range(ATTEMPTS):
            passed = commits.get(name.encode()).record
            yield passed.meta_range_id
            if name == judged.commit_id or not passed.parents:
                return
            name = passed.parents[0]

    def _in_tree(self, tree: MetaRangeId) -> Record | None:
        repository, _ = self._where
        snapshots = self._lake.storage(repository.storage_namespace).snapshots
        return snapshots.get(tree, self._staged.key)

    def _fresh(self) -> Branch:
        return self._lake.branches.fresh(*self._where).record

    def _take_back(self, token: StagingToken) -> None:
        """Remove our row, by its mark: an equal one may be somebody else's, and acknowledged."""
        found = self._lake.staging.find(token, self._staged.key)
        if found is not None and found[0] == self._staged:
            with suppress(PredicateFailed):  # somebody wrote over it
                self._lake.staging.delete_if(token, self._staged.key, found[1])

    def _condition_or_ours(self, shown: Record | None) -> bool:
        return (shown is not None and shown == self._ours) or self._condition(shown)


def require_condition(
    lake: Lake, repository: Repository, branch: BranchName, key: ObjectKey, condition: Condition
) -> Branch:
    """Refuse unless what a branch shows for a key meets a condition; gives the branch so judged.

    Raises PredicateFailed.
    """
    record, shown = read_stably(
        lake, repository, branch, lambda one: (one, find_record(lake, repository, one, key))
    )
    if not condition(shown):
        raise _changed(key, branch)
    return record


def _overtaken(key: ObjectKey, branch: BranchName) -> Conflict:
    return Conflict(
        f"object {key!r} came to {branch!r} while it was written, and a commit may have taken what"
        " was written; read it and decide again",
        code="write-overtaken",
    )


def _changed(key: ObjectKey, branch: BranchName) -> PredicateFailed:
    return PredicateFailed(
        f"object {key!r} on {branch!r} is not as the request expects; read it and decide again",
        code="object-changed",
    )
