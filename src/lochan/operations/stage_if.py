# SPDX-License-Identifier: Apache-2.0
"""Stage a row where what the branch shows meets a condition (H5).

        look          what the branch shows, stably, meets the condition, or is our own row
        write         by compare-and-swap on the staged row: of two with one condition one wins
        look again    if the branch was moved since: what our row covers must meet it, too

Without a row of its own under the token, a key shows what lies below, and the swap knows nothing of
that. Commits and compactions only put it elsewhere. A merge, an import, a reset may bring something
else between look and write; the record counts them (`moves`, `resets`). Then our row is taken back.

A seal makes us write again, and what became of our first row is seldom to be seen: a commit may
have taken it, and others may have read it and written over it. So the second time it is not enough
that the condition holds: nothing may have come to the key but our row, and then it is written
again. Else that is a Conflict, and the row may be committed. A refusal (PredicateFailed) always
means that no commit has the row, and that nobody has written over it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile, pairwise

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

    Raises: PredicateFailed; Conflict, code write-overtaken, when others came to the key and the row
    may be committed or written over all the same; as `stage`.
    """
    ours = msgspec.structs.replace(staged, mark=lake.environment.new_id())
    stage(lake, repository, branch, _Conditional(lake, repository, branch, ours, condition))


@dataclass(frozen=True, slots=True)
class _Written:
    """Our row as it was written: under which token, and what the branch showed for the key then."""

    token: StagingToken
    judged: Branch
    covered: Record | None


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
        self._written: _Written | None = None  # under the token before, which was sealed

    def __call__(self, token: StagingToken) -> None:
        """Write under a token if what the branch shows meets the condition, or is ours already."""
        _, branch = self._where
        key = ObjectKey(self._staged.key)
        for _ in range(ATTEMPTS):
            row = self._lake.staging.find(token, key)
            judged, shown = self._judge() if self._written is None else self._judge_again()
            if judged.staging_token != token:  # it was sealed, and `stage` comes again with that
                return
            try:
                self._lake.staging.set_if(token, self._staged, row[1] if row else None)
            except PredicateFailed:  # what was written meanwhile may meet the condition
                continue
            self._written = _Written(token, judged, shown)
            if row is None:
                with begun(f"a write to branch {branch!r}"):
                    self._judge_below(token, judged)
            return
        raise Unavailable(f"object {self._staged.key!r} was written {ATTEMPTS} times meanwhile")

    def _judge(self) -> tuple[Branch, Record | None]:
        repository, branch = self._where
        key = ObjectKey(self._staged.key)
        return require_condition(self._lake, repository, branch, key, self._condition)

    def _judge_again(self) -> tuple[Branch, Record | None]:
        """Look whether anybody came to the key since our row was written; refuse to guess."""
        assert self._written is not None  # noqa: S101 - who asks has written
        repository, branch = self._where
        written, key = self._written, self._staged.key

        def look(one: Branch) -> tuple[Branch, Record | None, bool]:
            shown = find_record(self._lake, repository, one, key)
            sure = self._is_ours(shown) or self._is_undisturbed(written, one, shown)
            return one, shown, sure

        judged, shown, is_sure = read_stably(self._lake, repository, branch, look)
        if not is_sure:  # our row stays: it may have been read, and may have replaced another
            raise _overtaken(ObjectKey(key), branch)
        return judged, shown

    def _is_undisturbed(self, written: _Written, current: Branch, shown: Record | None) -> bool:
        """Say whether our row came too late for the commit that sealed it, and nothing else came.

        Then no later token has a row, and each tree since then shows what we covered, or still what
        lay below that. A row of ours that is hidden, though its token is there, was seen.
        """
        tokens = tokens_of(current)
        if shown != written.covered or not self._condition(shown):
            return False
        if written.token in tokens or current.resets != written.judged.resets:
            return False
        if any(self._lake.staging.find(token, self._staged.key) for token in tokens):
            return False
        repository, _ = self._where
        *since, first = self._trees(written.judged, current)
        if first != self._lake.commits.tree(repository, written.judged.commit_id):
            return False  # the branch was moved elsewhere, or very far
        base = self._in_tree(tree_under(self._lake, repository, written.judged))
        showed = (self._in_tree(tree) for tree in reversed(since))
        return all(found == shown for found in dropwhile(lambda found: found == base, showed))

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
            if self._take_back(token) and self._fresh().staging_token == token:
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

    def _condition_or_ours(self, shown: Record | None) -> bool:
        return self._is_ours(shown) or self._condition(shown)

    def _is_ours(self, shown: Record | None) -> bool:
        """Say whether our row shows. A tombstone does so only where its condition lets it."""
        return shown == self._ours and (shown is not None or self._condition(None))


def require_condition(
    lake: Lake, repository: Repository, branch: BranchName, key: ObjectKey, condition: Condition
) -> tuple[Branch, Record | None]:
    """Refuse unless what a branch shows for a key meets a condition; gives the two so judged.

    Raises PredicateFailed.
    """
    record, shown = read_stably(
        lake, repository, branch, lambda one: (one, find_record(lake, repository, one, key))
    )
    if not condition(shown):
        raise _changed(key, branch)
    return record, shown


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
