# SPDX-License-Identifier: Apache-2.0
"""What merges brought: for each line of commits, how far it has reached on other lines.

Along a line L, the greatest place reached on another line X only grows, and only at merges. So a
merge M, at place n of L, stores its steps alone:

    reach/<L>/<X>/<n, inverted>/<M>  ->  m     M, unlike its first parent, has (X, m) behind it
    merged/<L>/<n, inverted>/<M>     ->  the lines reached along L, last stepped first

The first kind answers "how far on X?" with one seek, since greater places sort first. The second
answers "which lines since place p?": its list names each line once, by its latest step, and one
stops at the first step that is not after p. A list holds its own steps and the front of the list
before it, at least as far as that names a line stepped again. What follows is the list of the merge
that stepped the next line, named by `rest`: every line left was last stepped there or before, and
one that was named already is passed over. So each row read names a line not named before, however
often the same few lines are merged.

Rows are written before the compare-and-swap that publishes M. A row of L counts only if
clock/<L>/<n> names its merge: an attempt that lost, or died, leaves rows that nobody counts. Where
M is published, all its rows are there, and all that its list leads to. `forget` removes what a lost
attempt wrote. All rows can be computed again from the commits (`rebuild`).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from lochan.errors import Corruption
from lochan.kv.read import find, scan_prefix
from lochan.kv.set_many import set_many
from lochan.kv.store import Store
from lochan.model.clock import Span, between, own, parting
from lochan.model.ids import CommitId, LineageId
from lochan.model.keys import (
    MERGED,
    REACH,
    merged_key,
    partition_of,
    place_and_merge,
    reach_key,
)
from lochan.model.records import Branch, Clock, Commit, Repository
from lochan.refs.clock_index import ClockIndex

# Lines named in a row beyond what it must name: with fewer in use, one read names all of them.
_FRONT = 16


class Step(msgspec.Struct, frozen=True, array_like=True):
    """A line reached: how far, the generation of the commit there, and the merge's place.

    Generation 0 is one not looked up: a place that a commit's own clock names.
    """

    lineage: LineageId
    reached: int
    generation: int = 0
    place: int = -1


class _Position(msgspec.Struct, frozen=True, array_like=True):
    """Where a list goes on: the row of an earlier merge of the same line, and how much to skip."""

    place: int
    merge: CommitId
    index: int


class _Merged(msgspec.Struct, frozen=True, array_like=True):
    """One row of merged/: the front of a list, and its rest."""

    steps: tuple[Step, ...]
    rest: _Position | None = None


_Question = tuple[CommitId, tuple[Clock, ...]]  # whose reach, beyond which clock


@dataclass(frozen=True, slots=True)
class ReachIndex:
    """What the merges of one repository brought.

    `assumed` holds commits whose places need no proof: those that somebody asks about, and those
    that are about to be published together. `known` keeps what was computed, for as long as this
    object and its copies live: commits and the rows that count never change.
    """

    store: Store
    partition: bytes
    clocks: ClockIndex
    assumed: Mapping[Clock, Commit] = field(default_factory=dict)
    known: dict[_Question, dict[LineageId, Step]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, store: Store, repository: Repository) -> "ReachIndex":
        """Bind the index to a repository."""
        return cls(store, partition_of(repository), ClockIndex.of(store, repository))

    def assuming(self, *commits: Commit) -> "ReachIndex":
        """Take the places of these commits as given."""
        return replace(self, assumed={**self.assumed, **{own(c): c for c in commits}})

    def write(self, *chain: Commit) -> None:
        """Write the rows of merges that one compare-and-swap is about to publish: before it.

        The chain is in order, each commit the next one's first parent; those of one parent have no
        rows. Requires: the other parents are published. Idempotent: yes.
        """
        seeing = self.assuming(*chain)
        for merge in chain:
            set_many(self.store, self.partition, seeing.rows(merge))

    def rows(self, merge: Commit) -> dict[bytes, bytes]:
        """Compute what a merge stores, its list last; nothing for a commit of one parent."""
        steps = self._steps(merge)
        if not steps:
            return {}
        lineage, place = own(merge)
        rows = {
            reach_key(lineage, step.lineage, place, merge.id): str(step.reached).encode()
            for step in steps
        }
        listed = self._listed(Clock(lineage, place), steps)
        rows[merged_key(lineage, place, merge.id)] = msgspec.json.encode(listed)
        return rows

    def forget(self, merge: Commit, branch: Branch | None) -> bool:
        """Remove the rows of an attempt that lost; say whether they are gone.

        `branch` is the destination as read after the loss. While it still has the merge's first
        parent as head of the same line, an equal attempt (same content, same id) may yet be
        published there, and once it is, the rows are its: they stay.
        """
        clock = own(merge)
        at_parent = branch is not None and branch.commit_id == merge.parents[0]
        if at_parent and branch is not None and branch.lineage == clock.branch:
            return False
        if self.clocks.find(clock) == merge.id:
            return False
        listed = merged_key(*clock, merge.id)
        row = find(self.store, self.partition, listed)
        steps = _decoded(row.value).steps if row else self._steps(merge)
        for step in (step for step in steps if step.place == clock.commit):
            key = reach_key(clock.branch, step.lineage, clock.commit, merge.id)
            self.store.delete(self.partition, key)
        self.store.delete(self.partition, listed)
        return True

    def reached(self, along: Clock, foreign: LineageId) -> int:
        """Say how far merges along a line, up to a place, reached on another line; -1 if never."""
        prefix = REACH + f"{along.branch}/{foreign}/".encode()
        start = reach_key(along.branch, foreign, along.commit, "")
        for key, value in scan_prefix(self.store, self.partition, prefix, start):
            if self._counts(along.branch, *place_and_merge(key)):
                return int(value)
        return -1

    def steps(self, span: Span) -> Iterator[Step]:
        """Give each line that merges at the places of a span reached, by its latest step there."""
        for step in self._list(Clock(span.lineage, span.last), span.first):
            if step.place < span.first:
                return
            yield step

    def since(self, commit: Commit, past: Iterable[Clock] = ()) -> dict[LineageId, Step]:
        """Say how far `commit` reaches beyond a commit on its first parents' way, line by line.

        `past` is that commit's clock; without it everything reached is given. A line on which
        nothing was reached since is not named.
        """
        question = (commit.id, tuple(past))
        if question not in self.known:
            self.known[question] = self._since(commit, question[1])
        return dict(self.known[question])

    def _since(self, commit: Commit, past: tuple[Clock, ...]) -> dict[LineageId, Step]:
        seeing = self.assuming(commit)
        known: dict[LineageId, Step] = {}
        for span in between(commit.clocks, past):
            generation = commit.generation if span.lineage == own(commit).branch else 0
            known[span.lineage] = Step(span.lineage, span.last, generation)
            for step in seeing.steps(span):
                before = known.get(step.lineage)
                if before is None or before.reached < step.reached:
                    known[step.lineage] = step
        return known

    def rebuild(self, tips: Iterable[Commit]) -> int:
        """Compute all clock, reach and merged rows behind published commits; count the merges."""
        found: dict[CommitId, Commit] = {}
        waiting = list(tips)
        while waiting:
            commit = waiting.pop()
            if commit.id not in found:
                found[commit.id] = commit
                parents = (parent for parent in commit.parents if parent not in found)
                waiting.extend(self.clocks.commits.get(p.encode()).record for p in parents)
        self.clocks.place(*found.values())
        merges = [commit for commit in found.values() if len(commit.parents) > 1]
        for merge in sorted(merges, key=lambda commit: commit.generation):
            self.write(merge)  # a merge's rows need those of all merges behind it
        return len(merges)

    def _steps(self, merge: Commit) -> list[Step]:
        """Compute what a merge reaches and its first parent does not.

        Since the two parted, each side has named the lines on which it got further; on all others
        both are as far as where they parted.
        """
        if len(merge.parents) < 2:  # noqa: PLR2004 - a merge has at least two
            return []
        place = own(merge).commit
        destination, *sources = (self._parent(parent) for parent in merge.parents)
        best: dict[LineageId, Step] = {}
        for source in sources:
            parted = parting(destination.clocks, source.clocks)
            reached = self.since(destination, parted)
            for lineage, step in self.since(source, parted).items():
                here, other = reached.get(lineage), best.get(lineage)
                known = max(here.reached if here else -1, other.reached if other else -1)
                if step.reached > known:
                    best[lineage] = step
        return [
            Step(step.lineage, step.reached, self._generation(step), place)
            for _, step in sorted(best.items())
        ]

    def _generation(self, step: Step) -> int:
        return step.generation or self.clocks.commit(Clock(step.lineage, step.reached)).generation

    def _listed(self, clock: Clock, steps: list[Step]) -> _Merged:
        """Put a merge's steps before the list of the last merge on its line, each line once."""
        if not clock.commit:
            return _Merged(tuple(steps))
        before = Clock(clock.branch, clock.commit - 1)
        stepped = {step.lineage for step in steps}
        again = {lineage for lineage in stepped if self.reached(before, lineage) >= 0}
        front = list(steps)
        for step in self._list(before):
            if step.lineage in stepped:
                again.discard(step.lineage)
            elif again or len(front) < len(steps) + _FRONT:
                front.append(step)
            else:
                return _Merged(tuple(front), self._list_of(Clock(clock.branch, step.place)))
        return _Merged(tuple(front))

    def _list_of(self, clock: Clock) -> _Position:
        """Say where the list of the merge at a place begins; nothing in it was stepped later."""
        found = self._latest(clock, clock.commit)
        if found is None:
            reason = f"no merge is at {clock.branch}/{clock.commit}, where a line was reached"
            raise Corruption(reason, file="the reach of merges")
        return found[0]

    def _list(self, along: Clock, first: int = 0) -> Iterator[Step]:
        """Give the lines reached along a line up to a place, last stepped first, each once.

        Without a merge from place `first` on it is empty.
        """
        named = set[LineageId]()
        found = self._latest(along, first)
        while found is not None:
            position, row = found
            for step in row.steps[position.index :]:
                if step.lineage not in named:
                    named.add(step.lineage)
                    yield step
            found = (row.rest, self._row(along.branch, row.rest)) if row.rest else None

    def _latest(self, along: Clock, first: int) -> tuple[_Position, _Merged] | None:
        prefix = MERGED + f"{along.branch}/".encode()
        for key, value in scan_prefix(self.store, self.partition, prefix, merged_key(*along, "")):
            place, merge = place_and_merge(key)
            if place < first:
                return None
            if self._counts(along.branch, place, merge):
                return _Position(place, merge, 0), _decoded(value)
        return None

    def _row(self, lineage: LineageId, position: _Position) -> _Merged:
        key = merged_key(lineage, position.place, position.merge)
        found = find(self.store, self.partition, key)
        if found is None:
            reason = "a later merge leads to it, and it is not there; rebuild the reach of merges"
            raise Corruption(reason, file=f"row {key.decode()}")
        return _decoded(found.value)

    def _counts(self, lineage: LineageId, place: int, merge: CommitId) -> bool:
        clock = Clock(lineage, place)
        known = self.assumed.get(clock)
        return merge == (known.id if known else self.clocks.find(clock))

    def _parent(self, named: CommitId) -> Commit:
        known = (commit for commit in self.assumed.values() if commit.id == named)
        return next(known, None) or self.clocks.commits.get(named.encode()).record


def _decoded(value: bytes) -> _Merged:
    return msgspec.json.decode(value, type=_Merged)
