# SPDX-License-Identifier: Apache-2.0
"""Stage a row where what the branch shows meets a condition (H5).

        look          what the branch shows, stably, meets the condition
        write         by compare-and-swap on the staged row: of two with one condition one wins
        look again    if the branch was moved since: what our row covers must meet it, too

Without a row of its own under the token, a key shows what lies below, and the swap knows nothing of
that. Commits and compactions only put it elsewhere. A merge, an import, a reset may bring something
else between look and write; the record counts them (`moves`, `resets`). Then our row is taken back.

A seal makes us write again, and by then a commit may have taken our first row, and others may have
read it and built on it. That the condition holds says nothing then: somebody may have turned the
value back, and a second write would undo that. What tells is whether our row shows. Then it is
written again: it may have come too late for the commit, and a rival who looked before it came must
find it by his swap. Else it is a Conflict, since the row may be committed: others came to the key,
or a whole commit went by while we wrote one row. A refusal (PredicateFailed) always means that no
commit has the row, and that nobody has written over it.
"""

from dataclasses import dataclass
from functools import partial

import msgspec

from lochan.errors import Conflict, PredicateFailed, Unavailable
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, ObjectKey, StagingToken
from lochan.model.records import Branch, Repository, StagedEntry
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.stage import stage
from lochan.operations.view import (
    as_shown,
    find_record,
    is_same_view,
    nothing_brought,
    read_stably,
    tokens_of,
)
from lochan.refs.outcomes import begun
from lochan.staging.area import Found
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

    Raises: PredicateFailed; Conflict, code write-overtaken, when others came to the key and the row
    may be committed or written over all the same; as `stage`.
    """
    ours = msgspec.structs.replace(staged, mark=lake.environment.new_id())
    stage(lake, repository, branch, _Conditional(lake, repository, branch, ours, condition))


@dataclass(frozen=True, slots=True)
class _Look:
    """What a branch showed for the key: its row under the staging token, or what lies below."""

    branch: Branch
    row: Found | None
    shown: Record | None
    is_ours: bool


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
        self._ours = as_shown(staged)
        self._written: StagingToken | None = None  # under which, before it was sealed

    def __call__(self, token: StagingToken) -> None:
        """Write under a token if the condition is met; if we wrote before, if our row shows."""
        _, branch = self._where
        for _ in range(ATTEMPTS):
            look = read_stably(self._lake, *self._where, partial(self._look, token))
            if look is None:  # the token was sealed, and `stage` comes again with the one that is
                return
            self._require(look)
            try:
                self._lake.staging.set_if(token, self._staged, look.row[1] if look.row else None)
            except PredicateFailed:  # what was written meanwhile may meet the condition
                continue
            is_first, self._written = self._written is None, token
            if look.row is None:
                with begun(f"a write to branch {branch!r}"):
                    self._judge_below(look, is_first=is_first)
            return
        raise Unavailable(f"object {self._staged.key!r} was written {ATTEMPTS} times meanwhile")

    def _look(self, token: StagingToken, branch: Branch) -> _Look | None:
        """Look at the key. The row that is judged is the one that the swap replaces."""
        if branch.staging_token != token:
            return None
        repository, _ = self._where
        row = self._lake.staging.find(token, self._staged.key)
        if row is not None:
            shown = as_shown(row[0])
        else:
            below = tokens_of(branch)[1:]
            shown = find_record(self._lake, repository, branch, self._staged.key, below)
        return _Look(branch, row, shown, self._is_ours(branch, shown))

    def _is_ours(self, branch: Branch, shown: Record | None) -> bool:
        """Say whether our row shows, if we wrote one before a seal.

        A tombstone does so by its row alone: others make a key as absent as we do.
        """
        token, tokens, key = self._written, tokens_of(branch), self._staged.key
        if token is None or self._ours is not None:
            return token is not None and shown == self._ours
        newest = next(filter(None, (self._lake.staging.find(each, key) for each in tokens)), None)
        is_shown = token in tokens and layers_of(branch, (token,))[0].hiding(key) is None
        return is_shown and newest is not None and newest[0] == self._staged

    def _require(self, look: _Look) -> None:
        """Refuse unless the condition is met, or our row shows, once we wrote it."""
        _, branch = self._where
        key = ObjectKey(self._staged.key)
        if self._written is None:
            if not self._condition(look.shown):
                raise _changed(key, branch)
        elif not look.is_ours:
            raise _overtaken(key, branch)

    def _judge_below(self, look: _Look, *, is_first: bool) -> None:
        """Judge again what our row covers, if anything but writers changed the branch since.

        A merge may have brought the object after it was judged and before our row came: then that
        is taken back. Commits bring nothing that was not there to be judged; what a sealed token
        holds is no reason to refuse (H4).
        """
        repository, branch = self._where
        judged, token, key = look.branch, look.branch.staging_token, self._staged.key
        current = self._fresh()
        for _ in range(ATTEMPTS):
            if nothing_brought(judged, current):
                return
            tokens = tokens_of(current)
            if token not in tokens:  # a commit may have put our row over what came
                raise _overtaken(ObjectKey(key), branch)
            (layer,) = layers_of(current, (token,))
            if layer.hiding(key):  # it was reset, and is judged again under the token that came
                return
            older = tokens[tokens.index(token) + 1 :]
            below = find_record(self._lake, repository, current, key, older)
            looked, current = current, self._fresh()
            if not is_same_view(looked, current):
                continue
            if self._condition(below) if is_first else below in {look.shown, self._ours}:
                return
            is_gone = self._take_back(token) and self._fresh().staging_token == token
            raise (_changed if is_gone and is_first else _overtaken)(ObjectKey(key), branch)
        raise Unavailable(f"branch {branch!r} changed {ATTEMPTS} times meanwhile; try again")

    def _fresh(self) -> Branch:
        return self._lake.branches.fresh(*self._where).record

    def _take_back(self, token: StagingToken) -> bool:
        """Remove our row, by its mark: an equal one may be somebody else's, and acknowledged.

        Says whether nobody had written over it.
        """
        found = self._lake.staging.find(token, self._staged.key)
        if found is None or found[0] != self._staged:
            return False
        try:
            self._lake.staging.delete_if(token, self._staged.key, found[1])
        except PredicateFailed:
            return False
        return True


def require_condition(
    lake: Lake, repository: Repository, branch: BranchName, key: ObjectKey, condition: Condition
) -> None:
    """Refuse unless what a branch shows for a key meets a condition. Raises PredicateFailed."""
    shown = read_stably(
        lake, repository, branch, lambda one: find_record(lake, repository, one, key)
    )
    if not condition(shown):
        raise _changed(key, branch)


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
