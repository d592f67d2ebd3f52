# SPDX-License-Identifier: Apache-2.0
"""What one file becomes where commits are brought to a version of it: replay and squash alike.

Each source is compared with the version of a commit that the target has behind it, too, or with
several: after a criss-cross there is no last one. Pieces are followed from version to version by
their places (`alignment`), so that of equal ones the right one goes.

    pieces        those that the source has and none of the earlier versions are appended. Those
                  that an earlier version has and the source has not go from the target if it has
                  them from where both parted, and else do not come from those sources beside it
                  that have them from there; what others have of equal ones stays
    another file  under the same path: the target's goes, and the source's is appended, whole
    no file       where none was earlier, the source's is appended; if the target, or a source
                  before this one, has brought back the same file, what that lacks
    nothing       the source deleted it: the target's file goes, but nothing that others append
    properties    metadata and content type are one thing: if the source has changed them, they
                  are the source's, the last one's if several did; else they stay the target's

Where one earlier version is of one file and one of another, the target tells which of the two it
went on with: if with the other, the source decided against that one. A file that is not in the
target, and of which nothing comes, stays away.

Of several sources, which is named first says in which order their pieces come, and no more; but
where one has merged another and decided for a file that was gone, or for one of two, and a third
goes another way, it may say which pieces come.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count
from typing import NamedTuple

from lochan.model.entry import Entry
from lochan.model.records import Clock
from lochan.operations.open_commits.alignment import Mark, Piece, aligned, marks_of
from lochan.operations.open_commits.file_change import (
    UNSAID,
    FileChange,
    Properties,
    is_plain,
    is_same_file,
    pieces_of,
    properties_of,
)

Versions = tuple[Entry | None, ...]


class Brought(NamedTuple):
    """A file in a source, and in the commits that the target, or a source before, has as well.

    `parted` are its versions where the source parted from the target itself, `beside` those where
    it parted from sources before it and not from the target, with the numbers of these.
    """

    earlier: Versions
    right: Entry | None
    parted: Versions
    number: int = 0
    beside: tuple[tuple[Versions, frozenset[int]], ...] = ()


def merged(sources: Sequence[Brought], below: Entry | None) -> FileChange:
    """Say how the target's version changes by what sources bring, in their order."""
    merge = _Merge(sources, below)
    for source in sources:
        merge.bring(source)
    return merge.change()


class _Version(NamedTuple):
    """A version that has been looked at, and which pieces of the result its own are, if any."""

    entry: Entry
    places: dict[int, int]
    source: Brought | None = None  # or the target


class _Said(NamedTuple):
    """What a source says of its file, and the pieces of the result that it appended."""

    file: Entry
    changed: bool
    pieces: range


class _Merge:
    """The result so far: its pieces are numbered, the target's first, then those appended."""

    def __init__(self, sources: Sequence[Brought], below: Entry | None) -> None:
        seen = [below, *chain.from_iterable(map(_versions, sources))]
        several = {id(version): version for version in seen if version is not None}
        self._mark = marks_of(map(pieces_of, several.values()))
        self._marks: dict[int, list[Mark]] = {}  # of versions, which are held by `sources`
        self._below = below
        self._there = () if below is None else pieces_of(below)
        self._added: list[Piece] = []
        self._gone: set[int] = set()
        self._deletes = False  # all that was there
        self._stays_empty = False
        self._empty: list[Entry] = []  # files of no pieces that sources begin
        self._left: list[Entry] = []  # files that sources had from others before, and have not
        self._brought: list[_Version] = []
        self._epochs = defaultdict[Clock | None, list[_Version]](list)  # the same, by epoch
        self._said: list[_Said] = []

    def bring(self, source: Brought) -> None:
        """Do to the result what led to a source."""
        below, right = self._below, source.right
        same = [version for version in source.earlier if _is_same(version, right)]
        others = [each for each in source.earlier if each is not None and not _is_same(each, right)]
        self._leave([other for other in others if other not in source.parted])
        decided = below is not None and any(is_same_file(below, other) for other in others)
        if not same or (decided and not _is_same(below, right)):
            was = any(each is not None and not _is_same(each, right) for each in source.parted)
            self._deletes |= was and (right is None or not _is_same(below, right))
            self._begin(source, others)
        else:
            self._grow([version for version in same if version is not None], others, source)

    def change(self) -> FileChange:
        """Give what was done to the target's version."""
        first = len(self._there)
        pieces = tuple(
            piece for place, piece in enumerate(self._added, first) if place not in self._gone
        )
        stays = self._stays_empty and self._below is not None and not self._deletes
        return FileChange(
            self._deletes,
            pieces,
            gone=frozenset(place for place in self._gone if place < first),
            creates=stays or bool(self._empty),
            properties=self._properties(),
        )

    def _leave(self, files: Sequence[Entry]) -> None:
        """Let no empty file come that sources before have begun, and this one had, and has not."""
        self._left += files
        self._empty = [
            each for each in self._empty if not any(is_same_file(each, left) for left in files)
        ]

    def _begin(self, source: Brought, others: Sequence[Entry]) -> None:
        """Append a file whole; what sources bring of others that it had before does not come."""
        for other in others:
            self._gone |= self._in_sources(source, other, range(len(pieces_of(other))))
        if source.right is not None:
            self._append_whole(source, source.right)

    def _append_whole(self, source: Brought, right: Entry) -> None:
        known = list(self._beside(right))
        if self._below is not None and is_same_file(self._below, right):
            known.insert(0, self._target(self._below))
        places = dict[int, int]()
        for version in known:
            there = self._aligned(right, version.entry)
            places |= {n: version.places[m] for n, m in there.items() if m in version.places}
        if not self._gone.isdisjoint(places.values()):
            # It has brought back what sources before it had, and another of them took away.
            again = self._held(right, chain.from_iterable(parted for parted, _ in source.beside))
            places = {n: m for n, m in places.items() if m not in self._gone or n not in again}
        was_left = any(is_same_file(left, right) for left in self._left)
        if not pieces_of(right) and (not known or was_left):
            self._empty.append(right)
        pieces = self._append(_Version(right, places, source), set(places))
        self._said.append(_Said(right, properties_of(right) != UNSAID, pieces))

    def _grow(self, known: Sequence[Entry], others: Sequence[Entry], source: Brought) -> None:
        """Take away what was taken from the versions that are known, and append what is new."""
        right = source.right
        versions = [*known, *others]
        kept = self._kept(versions, right)
        gone = set[int]()
        for version, places in zip(versions, kept, strict=True):
            lost = [place for place in range(len(pieces_of(version))) if place not in places]
            gone |= self._in_target(source, version, lost)
            gone |= self._in_sources(source, version, lost)
        for version, places in zip(versions, kept, strict=True) if gone else ():
            gone -= self._in_target(source, version, places)
        self._gone |= gone
        if right is not None:
            self._stays_empty |= not pieces_of(right)
            behind = {place for places in kept for place in places.values()}
            pieces = self._append(_Version(right, {}, source), behind - self._back(source, right))
            changed = properties_of(right) not in map(properties_of, known)
            self._said.append(_Said(right, changed, pieces))

    def _kept(self, versions: Sequence[Entry], right: Entry | None) -> list[dict[int, int]]:
        """Say of each version which of its pieces are in the source, and where."""
        if right is None:
            return [{} for _ in versions]
        found = [self._aligned(version, right) for version in versions]
        if len(found) == 1:
            return [_goes_on(found[0])]
        behind = {place for places in found for place in places.values()}
        return [
            self._paired(version, right, places, behind - set(places.values()))
            for version, places in zip(versions, found, strict=True)
        ]

    def _paired(
        self, version: Entry, right: Entry, places: dict[int, int], free: set[int]
    ) -> dict[int, int]:
        """Pair what is left of a version with pieces that others have: their order may differ."""
        theirs, paired = self._marked(right), dict(places)
        for place, mark in enumerate(self._marked(version)):
            if place not in places:
                equal = min((n for n in free if theirs[n] == mark), default=None)
                if equal is not None:
                    paired[place] = equal
                    free = free - {equal}
        return paired

    def _append(self, version: _Version, behind: Collection[int]) -> range:
        """Append what a source has that is not behind it; says where that is in the result."""
        first = end = len(self._there) + len(self._added)
        for place, piece in enumerate(pieces_of(version.entry)):
            if place not in behind:
                version.places[place] = end
                self._added.append(piece)
                end += 1
        self._brought.append(version)
        self._epochs[version.entry.epoch].append(version)
        return range(first, end)

    def _back(self, source: Brought, right: Entry) -> set[int]:
        """Say which pieces a source shares with others before it, and only it brings to the target.

        It has brought them back: where it parted from the target they were gone. The others have
        them from before that, and do not bring them. What they have from another source, and that
        one took away, is not brought back.
        """
        if source.parted == source.earlier:
            return set()
        there = () if self._below is None else self._aligned(self._below, right).values()
        known = {*there, *self._held(right, source.parted)}
        back, brought = set[int](), set[int]()
        for other in self._beside(right):
            held = self._held(other.entry, other.source.parted if other.source else ())
            for place, its in self._aligned(right, other.entry).items():
                if its in other.places:
                    brought.add(place)
                elif its in held:
                    back.add(place)
        return back - brought - known

    def _held(self, version: Entry, before: Iterable[Entry | None]) -> set[int]:
        """Say which pieces of a version others of the same file have, too."""
        same = [each for each in before if each is not None and is_same_file(each, version)]
        return {place for one in same for place in self._aligned(one, version).values()}

    def _properties(self) -> Properties | None:
        """Give what is said of the file, if that is not what is said of the target's."""
        stays = None if self._below is None or self._deletes else properties_of(self._below)
        now = stays
        for said in self._said:
            begins = any(each is said.file for each in self._empty)
            brings = begins or not self._gone.issuperset(said.pieces)
            if (said.changed and (brings or stays is not None)) or (now is None and brings):
                now = properties_of(said.file)
        return None if now == stays else now

    def _target(self, below: Entry) -> _Version:
        return _Version(below, {place: place for place in range(len(self._there))})

    def _beside(self, entry: Entry) -> list[_Version]:
        """Give the versions of a file in the sources so far."""
        several = [self._epochs[entry.epoch], self._epochs[None]]
        maybe = self._brought if is_plain(entry) else chain.from_iterable(several)
        return [version for version in maybe if is_same_file(version.entry, entry)]

    def _in_target(self, source: Brought, version: Entry, wanted: Collection[int]) -> set[int]:
        """Find pieces of an earlier version that the target has from where both parted."""
        found = set[int]()
        if self._below is not None and wanted:
            for shared in _ways(version, source.parted):
                found |= self._places(version, wanted, shared, self._target(self._below))
        return found

    def _in_sources(self, source: Brought, version: Entry, wanted: Collection[int]) -> set[int]:
        """Find pieces of an earlier version that sources have from where both parted, and bring.

        What the target had there, too, is its own; a source that brings it has brought it back.
        """
        found = set[int]()
        theirs = set(wanted) - self._held(version, source.parted) if source.beside else ()
        for parted, numbers in source.beside if theirs else ():
            for shared in _ways(version, parted):
                for other in self._beside(shared):
                    if other.source is not None and other.source.number in numbers:
                        found |= self._places(version, theirs, shared, other)
        return found

    def _places(
        self, version: Entry, wanted: Collection[int], shared: Entry, other: _Version
    ) -> set[int]:
        """Find pieces of a version in the result, by way of another and where both parted."""
        known, there = self._aligned(version, shared), self._aligned(shared, other.entry)
        # A target may have taken another way than on from what it has behind it.
        there = there if other.source is None else _goes_on(there)
        places = {there[known[n]] for n in wanted if known.get(n) in there}
        return {other.places[place] for place in places if place in other.places}

    def _aligned(self, one: Entry, other: Entry) -> dict[int, int]:
        return aligned(self._marked(one), self._marked(other))

    def _marked(self, entry: Entry) -> list[Mark]:
        found = self._marks.get(id(entry))
        if found is None:
            found = self._marks[id(entry)] = [self._mark(piece) for piece in pieces_of(entry)]
        return found


def _versions(source: Brought) -> Versions:
    beside = chain.from_iterable(versions for versions, _ in source.beside)
    return (*source.earlier, source.right, *source.parted, *beside)


def _ways(version: Entry, parted: Versions) -> list[Entry]:
    """Give the versions by which pieces of another are found: itself, if it is one of them."""
    if version in parted:
        return [version]
    return [each for each in parted if each is not None and is_same_file(each, version)]


def _goes_on(places: dict[int, int]) -> dict[int, int]:
    """Leave out what comes behind something new: it was appended, and is new as well."""
    there = set(places.values())
    first = next(place for place in count() if place not in there)
    return {one: other for one, other in places.items() if other < first}


def _is_same(one: Entry | None, other: Entry | None) -> bool:
    if one is None or other is None:
        return one is other
    return is_same_file(one, other)
