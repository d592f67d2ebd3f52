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
value back, and a second write would undo that. What tells is the first row itself. If its token is
named still, the row is there as we wrote it and was not forgotten, and no later token has one for
the key, then nobody has written after us, and it is written again. So it is where it shows, as that
changes nothing. Else it is a Conflict, since the row may be committed: others came to the key, or a
whole commit went by while we wrote one row. A refusal (PredicateFailed) always means that no commit
has the row, and that nobody has written over it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
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
    as_shown,
    find_record,
    is_same_view,
    nothing_brought,
    read_stably,
    tokens_of,
    tree_under,
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
        self._written: _Look | None = None  # on what our row was written, before a seal

    def __call__(self, token: StagingToken) -> None:
        """Write under a token if the condition is met; if we wrote before, if nobody has since."""
        _, branch = self._where
        for _ in range(ATTEMPTS):
            look = read_stably(self._lake, *self._where, partial(self._look, token))
            if look is None:  # the token was sealed, and `stage` comes again with the one that is
                return
            before = self._written
            self._require(look, before)
            try:
                self._lake.staging.set_if(token, self._staged, look.row[1] if look.row else None)
            except PredicateFailed:  # what was written meanwhile may meet the condition
                continue
            self._written = look
            if look.row is None:
                with begun(f"a write to branch {branch!r}"):
                    self._judge_below(look, is_first=before is None)
            return
        raise Unavailable(f"object {self._staged.key!r} was written {ATTEMPTS} times meanwhile")

    def _look(self, token: StagingToken, branch: Branch) -> _Look | None:
        """Look at the key. The row that is judged is the one that the swap replaces."""
        if branch.staging_token != token:
            return None
        repository, _ = self._where
        row = self._lake.staging.find(token, self._staged.key)
        if row is not None:
            return _Look(branch, row, as_shown(row[0]))
        below = tokens_of(branch)[1:]
        shown = find_record(self._lake, repository, branch, self._staged.key, below)
        return _Look(branch, None, shown)

    def _require(self, look: _Look, written: _Look | None) -> None:
        """Refuse unless the condition is met, or nobody has come to the key since we wrote."""
        _, branch = self._where
        key = ObjectKey(self._staged.key)
        if written is None:
            if not self._condition(look.shown):
                raise _changed(key, branch)
        elif not self._is_undisturbed(written, look):
            raise _overtaken(key, branch)

    def _is_undisturbed(self, written: _Look, look: _Look) -> bool:
        """Say whether our row shows, or is there as it was written, with nothing over or under it.

        Without its token nothing can be known: its rows may have been wiped before ours came.
        """
        if look.shown is not None and look.shown == self._ours:
            return True
        token, key, tokens = written.branch.staging_token, self._staged.key, tokens_of(look.branch)
        if token not in tokens:
            return False
        (layer,) = layers_of(look.branch, (token,))
        row = self._lake.staging.find(token, key)
        if layer.hiding(key) or row is None or row[0] != self._staged:
            return False
        if any(self._lake.staging.find(newer, key) for newer in tokens[: tokens.index(token)]):
            return False
        is_still = look.branch.moves == written.branch.moves
        return is_still or self._is_under(written, look.branch)

    def _is_under(self, written: _Look, current: Branch) -> bool:
        """Say whether moves brought other keys alone: all trees since we wrote show what we know.

        Which is, in this order, what the head held, what it was compacted to, what the branch
        showed, and our row.
        """
        repository, _ = self._where
        head = self._lake.commits.tree(repository, written.branch.commit_id)
        base = tree_under(self._lake, repository, written.branch)
        *since, first = self._trees(written.branch, current)
        if first != head:
            return False  # the branch was moved elsewhere, or very far
        known = (self._in_tree(head), self._in_tree(base), written.shown, self._ours)
        order, place = [_identity(each) for each in known], 0
        for found in map(self._in_tree, reversed(since)):
            while place < len(order) and order[place] != _identity(found):
                place += 1
        return place < len(order)

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
            if token not in tokens and is_first:
                self._judge_behind(judged, current)
                return
            if token not in tokens:
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


def _identity(record: Record | None) -> bytes:
    """Name content, wherever it lies; an object's is never empty."""
    return record.identity if record is not None else b""


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
