# SPDX-License-Identifier: Apache-2.0
"""The last step of everything that moves a branch: commit records, notes, one compare-and-swap.

Commits are chained onto the head that the compare-and-swap expects, so a lost one makes the records
anew (H6). A chain may hold the commits of several requests: each has its own record and id, and all
become visible at once (G16). The cleaner's notes about tokens that are to go are written before
(H10): after a crash in between, the cleaner finds the tokens still named by the branch and leaves
them alone.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import msgspec

from lochan.errors import Internal, LochanError, PredicateFailed, UnknownOutcome
from lochan.kv.set_many import set_many
from lochan.kv.table import Stored
from lochan.model.clock import NextClock, next_clock, own
from lochan.model.codec import encode_commit
from lochan.model.commit_id import new_commit
from lochan.model.ids import LineageId, MetaRangeId
from lochan.model.keys import COMMITS, partition_of
from lochan.model.records import Branch, Clock, Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.request import Candidate, Said, Tip
from lochan.operations.view import as_base
from lochan.refs.clock_index import ClockIndex
from lochan.refs.kinship import Kinship
from lochan.refs.notes import note_tokens
from lochan.refs.outcomes import begun, surely
from lochan.refs.reach import ReachIndex
from lochan.staging.layers import still_forgotten
from lochan.staging.sealed import Tokens


class Chain:
    """Commits on a branch's head, one on the other, unseen until all are published together."""

    def __init__(self, lake: Lake, repository: Repository, stored: Stored[Branch]) -> None:
        """Begin with no commit at the head of a branch, as read."""
        self._lake = lake
        self._repository = repository
        self._stored = stored
        self._branch = stored.record
        self._head = lake.tables(repository).commits.get(self._branch.commit_id.encode()).record
        self._next = self._position()
        self._made: list[Commit] = []
        self._brings = False
        self._carried: MetaRangeId | None = None
        self._reach = ReachIndex.of(lake.store, repository)

    @property
    def tip(self) -> Tip:
        """Say where the next commit goes."""
        return Tip(self._head, self._next.clocks, Kinship(self._reach))

    def add(self, candidate: Candidate, said: Said) -> Commit:
        """Put a commit on the tip of a tree that was not made of what is staged here."""
        self._brings = True
        return self._add(candidate, said)

    def add_staged(self, tree: MetaRangeId, said: Said) -> Commit:
        """Put a commit of what is staged on the tip."""
        return self._add(Candidate(tree), said)

    def _add(self, candidate: Candidate, said: Said) -> Commit:
        source = candidate.source
        parents = (self._head,) if source is None else (self._head, source)
        made = said_commit(said, candidate.tree, self._next.clocks, parents)
        self._reach = self._reach.assuming(made)
        if source is not None:
            surely(partial(self._reach.write, made))
        self._head = made
        self._branch = msgspec.structs.replace(
            self._branch, lineage=self._next.lineage, ordinals=self._next.ordinals
        )
        self._next = self._position()
        self._made.append(made)
        return made

    def carry(self, staged: MetaRangeId) -> None:
        """Keep uncommitted what a tree changes of the head that the chain began on.

        It lies under the staged rows of the new head, as staged rows would have: theirs win.
        """
        self._carried = staged

    def publish(self, gone: Tokens, newer: Tokens) -> bool:
        """Move the branch to the tip; False when it was changed since it was read.

        `gone` are the tokens whose rows the chain holds, `newer` those that stay sealed. Without a
        commit they are rows that change nothing, and only go, so that they do not gather (H11).
        """
        before = self._stored.record
        if not self._made and not gone and not before.compacted_base_meta_range_id:
            return True
        records = {COMMITS + made.id.encode(): encode_commit(made) for made in self._made}
        surely(lambda: set_many(self._lake.store, partition_of(self._repository), records))
        moved = msgspec.structs.replace(
            self._branch,
            commit_id=self._head.id,
            sealed_tokens=newer,
            forgotten=still_forgotten(before, newer),
            compacted_base_meta_range_id=self._base(),
            moves=before.moves + self._brings,
        )
        if swap(self._lake, self._repository, self._stored, moved, gone):
            self._index()
            return True
        self._forget()
        return False

    def _base(self) -> MetaRangeId:
        """Name the tree under the staged rows of the new head; nothing where it is the head's."""
        if self._carried is None:
            return MetaRangeId("")
        began = self._lake.commits.tree(self._repository, self._stored.record.commit_id)
        snapshots = self._lake.storage(self._repository.storage_namespace).snapshots
        tip = self._head.meta_range_id
        merged = snapshots.merge(began, tip, self._carried, "source-wins").id
        if merged is None:
            raise Internal("a merge in which one side wins met a conflict")
        return as_base(merged, tip)

    def _position(self) -> NextClock:
        return next_clock(self._head, self._branch, LineageId(self._lake.environment.new_id()))

    def _index(self) -> None:
        """Put published commits into the clock index; who misses one there finds it by walking."""
        with suppress(LochanError):  # they are published, whatever becomes of their rows
            ClockIndex.of(self._lake.store, self._repository).place(*self._made)

    def _forget(self) -> None:
        """Remove the reach of merges that lost.

        While the head is on their way, an equal chain may yet be published, and the rows be its.
        """
        merges = [made for made in self._made if len(made.parents) > 1]
        if merges:
            way = {self._stored.record.commit_id, *(made.id for made in self._made)}
            branch = self._lake.branches.fresh(self._repository, self._branch.branch_id).record
            if branch.commit_id in way:
                return
            for merge in merges:
                ReachIndex.of(self._lake.store, self._repository).forget(merge, branch)


def said_commit(
    said: Said, tree: MetaRangeId, clocks: tuple[Clock, ...], parents: Sequence[Commit]
) -> Commit:
    """Make the record of a commit, with its id; nobody sees it until a branch names it."""
    made = new_commit(
        committer=said.committer,
        message=said.message,
        creation_date=said.creation_date,
        meta_range_id=tree,
        clocks=clocks,
        metadata=said.metadata,
        parents=tuple(parent.id for parent in parents),
        generation=1 + max((parent.generation for parent in parents), default=0),
    )
    return msgspec.structs.replace(
        made, started=said.started, finished=said.finished, provenance=said.provenance
    )


def swap(
    lake: Lake, repository: Repository, stored: Stored[Branch], moved: Branch, gone: Tokens
) -> bool:
    """Replace a branch record by one that no longer names some tokens; False if it had changed."""
    tables, name = lake.tables(repository), moved.branch_id
    note_tokens(lake.store, lake.environment, repository, name, gone)
    try:
        tables.branches.set_if(name.encode(), moved, stored.predicate)
    except PredicateFailed:
        return False
    except UnknownOutcome:
        with begun(f"the move of branch {name!r}"):
            return _landed(lake, repository, stored.record, moved)
    return True


def _landed(lake: Lake, repository: Repository, before: Branch, moved: Branch) -> bool:
    """Find out whether a swap of unknown outcome took effect (H15): it did or it never will.

    A branch that was moved or deleted since then placed its head in the clock index before that.
    """
    tables = lake.tables(repository)
    if moved.commit_id != before.commit_id:
        made = tables.commits.get(moved.commit_id.encode()).record
        return ClockIndex.of(lake.store, repository).find(own(made)) == made.id
    return lake.branches.fresh(repository, moved.branch_id).record == moved
