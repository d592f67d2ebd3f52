# SPDX-License-Identifier: Apache-2.0
"""The holes of the protocol, each as a change of the product's code that the suite must catch.

The names are those of the reliability page. A hole is opened by replacing a function of the
product for the time of a test; its one line says what is then done wrong.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import msgspec
import pytest

from lochan.environment import Environment
from lochan.errors import LochanError, NotFound, PredicateFailed, Unavailable, UnknownOutcome
from lochan.kv.store import Store, Versioned
from lochan.kv.table import Stored, Table
from lochan.model.codec import decode_repository
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey, StagingToken, new_staging_token
from lochan.model.records import Branch, Commit, Repository, RepositoryState, StagedEntry
from lochan.operations import branch_reads, view
from lochan.operations import compact as compacting
from lochan.operations import delete_objects as deleting
from lochan.operations import lake as lakes
from lochan.operations import move as moving
from lochan.operations import publish as publishing
from lochan.operations import put_object as putting
from lochan.operations import reset as resetting
from lochan.operations import stage as staging
from lochan.operations import stage_if as conditional
from lochan.operations import staged_tree as trees
from lochan.operations.branch_reads import BranchRead
from lochan.operations.lake import Lake
from lochan.operations.publish import Chain
from lochan.operations.request import Request
from lochan.operations.stage import stage
from lochan.operations.staged_tree import StagedTree
from lochan.operations.view import find_record, tokens_of, tree_under
from lochan.refs import branches, creation, deletion, fresh
from lochan.refs.cleaner import Cleaner
from lochan.refs.notes import note_deleted, note_tokens
from lochan.refs.tables import RepositoryTables, repositories
from lochan.staging.area import StagingArea
from lochan.staging.fold import changes, folded
from lochan.staging.layers import Layer, layers_of
from lochan.staging.sealed import Overlap, Tokens
from lochan.turns import Turns, _Batch

Item = TypeVar("Item")
Patch = pytest.MonkeyPatch
Hole = Callable[[Patch], None]


def rel_H1(patch: Patch) -> None:
    """A tree is believed, whatever happened to its tokens while they were scanned."""

    def build(
        lake: Lake, repository: Repository, _: BranchName, stored: BranchRead, tokens: Tokens
    ) -> tuple[StagedTree, BranchRead]:
        branch, under = stored.record, tree_under(lake, repository, stored.record)
        snapshots = lake.storage(repository.storage_namespace).snapshots
        applied = snapshots.apply(under, changes(folded(lake.staging, layers_of(branch, tokens))))
        return StagedTree(applied.id, tokens, branch.commit_id, under, branch.resets), stored

    patch.setattr(moving, "build", build)
    patch.setattr(compacting, "build", build)


def rel_H2(patch: Patch) -> None:
    """Nothing that a read finds is held against the branch afterwards."""
    patch.setattr(view, "is_same_view", lambda _, __: True)


def rel_H3(patch: Patch) -> None:
    """After a read only the staging token is compared."""
    patch.setattr(view, "is_same_view", lambda a, b: a.staging_token == b.staging_token)


def rel_H4(patch: Patch) -> None:
    """A delete leaves out the tombstone where the key seems to be gone already."""

    def delete(
        lake: Lake, repository: Repository, name: BranchName, keys: Sequence[ObjectKey]
    ) -> None:
        def write(token: StagingToken) -> None:
            branch = lake.branches.fresh(repository, name).record
            for key in keys:
                if find_record(lake, repository, branch, key) is not None:
                    lake.staging.set(token, StagedEntry(key))

        stage(lake, repository, name, write)

    patch.setattr(deleting, "delete_objects", delete)


def rel_H5_stale(patch: Patch) -> None:
    """A conditional put decides on a read that nobody checks, and looks no second time."""

    def read_once(
        lake: Lake, repository: Repository, name: BranchName, read: Callable[[Branch], object]
    ) -> object:
        return read(lake.branches.seen(repository, name).record)

    patch.setattr(conditional, "read_stably", read_once)
    patch.setattr(conditional._Conditional, "_judge_below", lambda *_, **__: None)


def rel_H5_brought(patch: Patch) -> None:
    """A conditional put looks below its row only where every token is still there."""
    judge = conditional._Conditional._judge_below

    def still(self: conditional._Conditional, look: conditional._Look, *, is_first: bool) -> None:
        if tokens_of(self._fresh()) == tokens_of(look.branch):
            judge(self, look, is_first=is_first)

    patch.setattr(conditional._Conditional, "_judge_below", still)


def rel_H5_own(patch: Patch) -> None:
    """A conditional put that tries again takes its own first write for somebody else's."""
    patch.setattr(conditional._Conditional, "_is_ours", lambda *_: False)


def rel_H5_again(patch: Patch) -> None:
    """A conditional put that tries again asks whether its condition holds, and nothing else."""

    def judge(self: conditional._Conditional, look: conditional._Look) -> None:
        if not look.is_ours and not self._condition(look.shown):
            raise PredicateFailed("refused")

    patch.setattr(conditional._Conditional, "_require", judge)


def rel_H6(patch: Patch) -> None:
    """A commit that tries again keeps the parent of its first attempt."""

    class FirstParent(Chain):
        def __init__(self, lake: Lake, repository: Repository, stored: Stored[Branch]) -> None:
            super().__init__(lake, repository, stored)
            kept: dict[str, Commit] = lake.environment.__dict__.setdefault("first_parent", {})
            self._head = kept.setdefault(stored.record.branch_id, self._head)

    patch.setattr(moving, "Chain", FirstParent)


def rel_H7(patch: Patch) -> None:
    """A merge moves the head, and leaves tokens sealed as if nothing had happened."""
    whole = moving._move

    def move(
        lake: Lake, repository: Repository, name: BranchName, batch: Sequence[Request]
    ) -> None:
        if any(request.make is None for request in batch):
            whole(lake, repository, name, batch)
            return
        while True:
            stored = lake.branches.fresh(repository, name)
            chain = Chain(lake, repository, stored)
            for request in batch:
                request.answer = moving._advance(chain, request.said, request.make)  # type: ignore[arg-type]
            if chain.publish((), stored.record.sealed_tokens):
                return

    patch.setattr(moving, "_move", move)


def rel_H7_reset_uncounted(patch: Patch) -> None:
    """A reset of some keys does not count, so that a tree which was built before it is believed."""
    whole = resetting.swap_reset

    def swap(lake: Lake, repository: Repository, stored: Stored[Branch], moved: Branch) -> bool:
        uncounted = msgspec.structs.replace(moved, resets=stored.record.resets)
        return whole(lake, repository, stored, uncounted)

    patch.setattr(resetting, "swap_reset", swap)


def rel_H7_reset_unheeded(patch: Patch) -> None:
    """A commit takes all rows of its tokens, those of keys that were reset, too."""

    def all_rows(_: Branch, tokens: Tokens) -> tuple[Layer, ...]:
        return tuple(Layer(token, ()) for token in tokens)

    patch.setattr(trees, "layers_of", all_rows)


def rel_H7_reset_unfollowed(patch: Patch) -> None:
    """A tree that was built before a reset of some keys is used as it is."""

    def unmended(
        _: Lake, __: Repository, branch: Branch, tree: StagedTree, ___: Overlap
    ) -> StagedTree:
        return replace(tree, resets=branch.resets)

    patch.setattr(trees, "after_resets", unmended)
    patch.setattr(moving, "after_resets", unmended)


def rel_H7_reset_unremembered(patch: Patch) -> None:
    """What was reset is noted no more when older tokens have gone."""
    patch.setattr(compacting, "still_forgotten", lambda _, __: ())


class JoinedTurns(Turns[Item]):
    """Turns in which whoever comes while a read is under way takes its answer."""

    def take(self, key: Hashable, item: Item, work: Callable[[Sequence[Item]], None]) -> None:
        with self._lock:
            batch = self._gathering.get(key)
            leads = batch is None
            if batch is None:
                batch = _Batch(self._environment.event(), self._environment.event())
                self._gathering[key] = batch
        if not leads:
            batch.done.wait()
            if isinstance(item, Request):
                item.answer = cast("Request", batch.items[0]).answer
            else:
                cast("list[object]", item).extend(cast("list[object]", batch.items[0]))
        else:
            batch.items.append(item)
            try:
                work([item])
            except LochanError as error:
                batch.error = error
            with self._lock:
                del self._gathering[key]
            batch.done.set()
        if batch.error is not None:
            raise batch.error


def rel_H8(patch: Patch) -> None:
    """The read after a write joins one that had begun before the write."""
    patch.setattr(fresh, "Turns", JoinedTurns)


def rel_H9(patch: Patch) -> None:
    """A scan that fails is taken for one that has come to its end."""
    scan = StagingArea.scan

    def scan_quietly(
        self: StagingArea, token: StagingToken, start: bytes = b""
    ) -> Iterator[StagedEntry]:
        try:
            yield from scan(self, token, start)
        except Unavailable:
            return

    patch.setattr(StagingArea, "scan", scan_quietly)


def rel_H10(patch: Patch) -> None:
    """The cleaner's notes are written when the branch has forgotten its tokens."""

    def swap(
        lake: Lake, repository: Repository, stored: Stored[Branch], moved: Branch, gone: Tokens
    ) -> bool:
        try:
            lake.tables(repository).branches.set_if(
                moved.branch_id.encode(), moved, stored.predicate
            )
        except PredicateFailed:
            return False
        note_tokens(lake.store, lake.environment, repository, moved.branch_id, gone)
        return True

    patch.setattr(publishing, "swap", swap)


def rel_H11(patch: Patch) -> None:
    """Every commit seals, and one that has nothing to say leaves its token behind."""

    def seal(lake: Lake, repository: Repository, name: BranchName) -> Branch | None:
        token = new_staging_token(repository.repository_id, name, lake.environment.new_id())

        def rotate(current: Branch | None) -> Branch:
            assert current is not None
            sealed = tokens_of(current)
            return msgspec.structs.replace(current, staging_token=token, sealed_tokens=sealed)

        return lake.tables(repository).branches.update(name.encode(), rotate, lake.environment)

    whole = Chain.publish

    def publish(self: Chain, gone: Tokens, newer: Tokens) -> bool:
        return whole(self, gone, newer) if self._made else True

    patch.setattr(moving, "seal", seal)
    patch.setattr(Chain, "publish", publish)


def rel_H12(patch: Patch) -> None:
    """A repository's record is marked and removed by its name, whichever it is by then."""

    def mark(table: Table[Repository], stored: Stored[Repository]) -> Stored[Repository]:
        marked = msgspec.structs.replace(stored.record, repository_state=RepositoryState.DELETING)
        table.set(stored.record.repository_id.encode(), marked)
        return Stored(marked, stored.predicate)

    def end(store: Store, environment: Environment, stored: Stored[Repository]) -> bool:
        table = repositories(store)
        mark(table, stored)
        note_deleted(store, environment, stored.record)
        table.delete(stored.record.repository_id.encode())
        return True

    patch.setattr(deletion, "end_repository", end)


def rel_H13(patch: Patch) -> None:
    """A creator makes its repository active without asking what became of its record."""

    def activate(store: Store, _: Environment, initial: Repository) -> Repository:
        active = msgspec.structs.replace(initial, repository_state=RepositoryState.ACTIVE)
        repositories(store).set(initial.repository_id.encode(), active)
        return active

    patch.setattr(creation, "_activate", activate)


def rel_H14(patch: Patch) -> None:
    """A repository that was once seen under a name is believed to be there, for ever."""
    known: dict[str, Repository] = {}

    def believe(found: Versioned | None, name: str, _: str) -> Repository:
        if name not in known:
            if found is None:
                raise NotFound(f"no repository {name!r}")
            known[name] = decode_repository(found.value)
        return known[name]

    patch.setattr(branch_reads, "_active", believe)


def rel_H14_rule(patch: Patch) -> None:
    """Whether a branch may be written to is asked of a cached record alone."""
    patch.setattr(staging, "require_allowed", lambda *_, **__: None)


def rel_H15(patch: Patch) -> None:
    """A swap whose answer was lost counts as lost itself."""

    def swap(
        lake: Lake, repository: Repository, stored: Stored[Branch], moved: Branch, gone: Tokens
    ) -> bool:
        note_tokens(lake.store, lake.environment, repository, moved.branch_id, gone)
        try:
            lake.tables(repository).branches.set_if(
                moved.branch_id.encode(), moved, stored.predicate
            )
        except (PredicateFailed, UnknownOutcome):
            return False
        return True

    patch.setattr(publishing, "swap", swap)


def rel_H18(patch: Patch) -> None:
    """A branch is deleted by its name, with the tokens that it had when it was read."""

    def delete(tables: RepositoryTables, stored: Stored[Branch]) -> None:
        tables.branches.delete(stored.record.branch_id.encode())

    patch.setattr(branches, "delete_branch", delete)


def writer_without_recheck(patch: Patch) -> None:
    """A writer does not look at the branch again after its write."""

    def write_once(
        lake: Lake, repository: Repository, name: BranchName, entries: Sequence[StagedEntry]
    ) -> None:
        token = lake.branches.seen(repository, name).record.staging_token
        lake.staging.set_many(token, entries)

    patch.setattr(putting, "stage_rows", write_once)


def commit_joins_late(patch: Patch) -> None:
    """A commit is answered by a batch that had begun before it was asked for."""
    patch.setattr(lakes, "Turns", JoinedTurns)


def any_base(patch: Patch) -> None:
    """A tree is used again though its branch was compacted meanwhile."""

    def holds(self: StagedTree, branch: Branch, _: MetaRangeId, overlap: Overlap) -> bool:
        if branch.resets != self.resets or overlap is Overlap.LATER:
            return False
        return branch.commit_id == self.commit_id or overlap is Overlap.EARLIER

    patch.setattr(StagedTree, "holds", holds)


def cleaner_without_question(patch: Patch) -> None:
    """The cleaner wipes every token of which there is a note, named by its branch or not."""
    patch.setattr(Cleaner, "_is_named", lambda *_: False)
