# SPDX-License-Identifier: Apache-2.0
"""A repository's whole history as numbers: for what must see all of it at once.

Dump, restore and fsck look at every commit. They keep of each its id, its parents and its place, in
arrays: a few hundred bytes a commit, whatever its message and metadata hold. Commits are added in
any order, since stores list them by id; then `complete` numbers parents, counts generations, and
gives places to commits that have none:

    a commit with a clock       its place is the clock's last component
    one without, and its first  goes on that one's line if it is the earliest of its children, by
    parent without as well      date and then id; the other children begin lines of their own
    one without, otherwise      begins a line

A line that begins here is named by its first commit, so that the same history gets the same clocks,
however often it is restored. What a commit's clock must be follows from the places of its first
parents (`clocks`); whether its record says so is for the caller to compare.

First parent means the first in the list, also for merges of lakeFS's version 0, which name the
destination last: everything that follows clocks does the same.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import compress

from lochan.errors import Corruption
from lochan.model.ids import EMPTY_TREE, CommitId, LineageId
from lochan.model.instant import EPOCH
from lochan.model.records import Clock, Commit

NOBODY = -1
_LINEAGE_DIGITS = 32  # as many as an Environment's ids have


class History:
    """Commits by number, in the order in which they were added."""

    def __init__(self) -> None:
        """Begin without commits."""
        self._numbers: dict[CommitId, int] = {}
        self._ids: list[CommitId] = []
        self._named: list[tuple[CommitId, ...]] = []
        self._parents: list[tuple[int, ...]] = []
        self._dates = array("q")
        self._line = array("q")
        self._place = array("q")
        self._below = array("q")  # the commit that a commit's line begins behind
        self._generations = array("q")
        self._line_numbers: dict[LineageId, int] = {}
        self._lines: list[LineageId] = []
        self._believed: dict[int, Commit] = {}
        self.missing: list[tuple[CommitId, CommitId]] = []  # (child, a parent that is not there)

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, commit: Commit) -> None:
        """Take a commit in; each id comes once."""
        self._numbers[commit.id] = len(self._ids)
        self._ids.append(commit.id)
        self._named.append(commit.parents)
        self._dates.append(commit.creation_date)
        lineage, place = commit.clocks[-1] if commit.clocks else (None, NOBODY)
        self._line.append(NOBODY if lineage is None else self._line_of(lineage))
        self._place.append(place)

    def complete(self, record: Callable[[CommitId], Commit] | None = None) -> None:
        """Count generations and give places, once all commits are there.

        A commit with a parent that is `missing` is believed what its `record` says of generation
        and clock, so that one hole does not look like many; one that says no clock begins a line.
        Raises Corruption for commits that descend from themselves.
        """
        for number, named in enumerate(self._named):
            self._parents.append(tuple(self._number_parents(number, named)))
        self._named = []
        if record is not None:
            children = dict.fromkeys(child for child, _ in self.missing)
            self._believed = {self._numbers[child]: record(child) for child in children}
        self._count_generations()
        heirs = self._heirs()
        self._below = array("q", [NOBODY]) * len(self)
        for number in self.order():
            self._give_place(number, heirs)

    def number(self, commit_id: CommitId) -> int:
        """Number a commit; NOBODY for one that was not added."""
        return self._numbers.get(commit_id, NOBODY)

    def commit_id(self, number: int) -> CommitId:
        """Name a commit."""
        return self._ids[number]

    def generation(self, number: int) -> int:
        """Give 1 + the largest of the parents' generations."""
        return self._generations[number]

    def clocks(self, number: int) -> tuple[Clock, ...]:
        """Give the clock that a commit must have: its place, and the places its lines began at."""
        found: list[Clock] = []
        while number != NOBODY:
            if number in self._believed and self._believed[number].clocks:
                found.extend(reversed(self._believed[number].clocks))
                break
            found.append(Clock(self._lines[self._line[number]], self._place[number]))
            number = self._below[number]
        return tuple(reversed(found))

    def commit(self, number: int) -> Commit:
        """Give what is known of a commit: id, parents, generation and clock; nothing it says."""
        return Commit(
            id=self._ids[number],
            committer="",
            message="",
            creation_date=EPOCH,
            meta_range_id=EMPTY_TREE,
            parents=tuple(self._ids[parent] for parent in self._parents[number]),
            generation=self._generations[number],
            clocks=self.clocks(number),
        )

    def order(self) -> list[int]:
        """Number all commits, parents before children."""
        return sorted(range(len(self)), key=self._generations.__getitem__)

    def behind(self, tips: Iterable[CommitId]) -> bytearray:
        """Mark these commits and all their ancestors: one byte a commit, 1 for those."""
        marked = bytearray(len(self))
        waiting = [self._numbers[tip] for tip in tips if tip in self._numbers]
        while waiting:
            number = waiting.pop()
            if not marked[number]:
                marked[number] = 1
                waiting.extend(parent for parent in self._parents[number] if not marked[parent])
        return marked

    def merges(self, marked: bytearray) -> Iterator[int]:
        """Give the marked commits of several parents, parents before children."""
        return (n for n in self.order() if marked[n] and len(self._parents[n]) > 1)

    def places(self, marked: bytearray) -> tuple[dict[Clock, int], list[tuple[int, int]]]:
        """Give the marked commits by place, and pairs of them that claim the same one."""
        found: dict[Clock, int] = {}
        twice: list[tuple[int, int]] = []
        for number in compress(range(len(self)), marked):
            clock = Clock(self._lines[self._line[number]], self._place[number])
            first = found.setdefault(clock, number)
            if first != number:
                twice.append((first, number))
        return found, twice

    def _line_of(self, lineage: LineageId) -> int:
        number = self._line_numbers.setdefault(lineage, len(self._lines))
        if number == len(self._lines):
            self._lines.append(lineage)
        return number

    def _number_parents(self, child: int, named: tuple[CommitId, ...]) -> Iterator[int]:
        for parent in named:
            number = self._numbers.get(parent)
            if number is None:
                self.missing.append((self._ids[child], parent))
            else:
                yield number

    def _count_generations(self) -> None:
        generations = self._generations = array("q", [0]) * len(self)
        entered = bytearray(len(self))
        for start in range(len(self)):
            path = [start]
            while path:
                number = path[-1]
                behind = [p for p in self._parents[number] if not generations[p]]
                if not behind:
                    counted = (generations[parent] for parent in self._parents[number])
                    generations[number] = 1 + max(counted, default=0)
                    if number in self._believed:
                        generations[number] = max(1, self._believed[number].generation)
                    path.pop()
                    continue
                entered[number] = 1
                if any(entered[parent] for parent in behind):
                    reason = "it is among its own ancestors"
                    raise Corruption(reason, file=f"commit {self._ids[number]}")
                path.extend(behind)

    def _heirs(self) -> "array[int]":
        """Say for each commit without clock which child goes on its line."""
        heirs = array("q", [NOBODY]) * len(self)
        for number, parents in enumerate(self._parents):
            if not parents or self._place[number] != NOBODY:
                continue
            first = heirs[parents[0]]
            if first == NOBODY or self._when(number) < self._when(first):
                heirs[parents[0]] = number
        # A line that came with its clocks has an owner, who alone gives its next place.
        for number, place in enumerate(self._place):
            if place != NOBODY:
                heirs[number] = NOBODY
        return heirs

    def _when(self, number: int) -> tuple[int, CommitId]:
        return self._dates[number], self._ids[number]

    def _give_place(self, number: int, heirs: "array[int]") -> None:
        parents = self._parents[number]
        first = parents[0] if parents else NOBODY
        if self._place[number] == NOBODY:
            if first != NOBODY and heirs[first] == number:
                self._line[number] = self._line[first]
                self._place[number] = self._place[first] + 1
            else:
                lineage = LineageId(self._ids[number][:_LINEAGE_DIGITS])
                self._line[number] = self._line_of(lineage)
                self._place[number] = 0
        same = first != NOBODY and self._line[first] == self._line[number]
        self._below[number] = self._below[first] if same else first
