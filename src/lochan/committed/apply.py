# SPDX-License-Identifier: Apache-2.0
"""Base and sorted changes give a new metarange: the heart of a commit.

Changes fall to the base range that may hold their key, or to the end. Ranges without changes are
passed on whole and unopened; the others are decoded and overlaid beside the caller, or in stretches
where others are to have their turn in between. A range whose changes turn out to say what it holds
already is passed on whole as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lochan.committed.cuts import Cuts
from lochan.committed.files import Files
from lochan.committed.metarange import MetaRange
from lochan.committed.parallel import Crew, Job
from lochan.committed.range import Range
from lochan.committed.writer import MetaRangeWriter
from lochan.errors import InvalidInput
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import STRETCH_ROWS, Breathe
from lochan.kernel.records import EMPTY, Records
from lochan.model.ids import MetaRangeId


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of it: the new metarange, how many records changed, and how much was reused."""

    id: MetaRangeId
    changed: int
    ranges_reused: int
    ranges_written: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A range to pass on whole, or the rows of one that changed; and how many records did."""

    content: Range | list[Records]
    changed: int = 0


_Group = tuple[int, list[Records]]  # the number of a base range, and the changes that fall to it


def apply(
    files: Files, cuts: Cuts, crew: Crew, base: MetaRange, changes: Iterable[Records]
) -> Applied:
    """Apply changes, sorted within and across the chunks; an empty identity removes its key.

    Raises InvalidInput for changes out of order. Nothing of a failed apply can be reached.
    """
    writer = MetaRangeWriter(files, cuts, crew)
    changed = 0
    try:
        for piece in crew.in_order(_pieces(files, base, _in_order(changes), crew.breathe)):
            changed += piece.changed
            if isinstance(piece.content, Range):
                writer.add_range(piece.content)
            else:
                for records in piece.content:
                    writer.add_records(records)
        found = writer.finish()
    except BaseException:
        writer.abandon()
        raise
    return Applied(found, changed, writer.reused, writer.written)


def _in_order(changes: Iterable[Records]) -> Iterator[Records]:
    last: bytes | None = None
    for chunk in changes:
        if not len(chunk):
            continue
        first = chunk.keys[0]
        if last is not None and first <= last:
            raise InvalidInput(f"change {first!r} comes after {last!r}; sort the changes first")
        last = chunk.keys[-1]
        yield chunk


def _pieces(
    files: Files,
    base: MetaRange,
    changes: Iterator[Records],
    breathe: Breathe,
) -> Iterator[_Piece | Job[_Piece]]:
    passed = 0
    for number, parts in _grouped(base, changes):
        yield from map(_Piece, base.between(passed, number))
        below = base[number] if number < len(base) else None
        yield Job(_Overlay(files, below, parts, breathe))
        passed = number + 1
    yield from map(_Piece, base.between(passed, len(base)))


def _grouped(base: MetaRange, changes: Iterator[Records]) -> Iterator[_Group]:
    """Collect the changes that fall to each base range; those behind the last come by chunks."""
    current, parts = -1, list[Records]()
    for chunk in changes:
        start = 0
        while start < len(chunk):
            number = base.find(chunk.keys[start])
            if number < len(base):
                stop = kernel.lower_bound(chunk.keys, base.max_keys[number] + b"\x00")
            else:
                stop = len(chunk)
            if parts and (number != current or number == len(base)):
                yield current, parts
                parts = []
            current = number
            parts.append(chunk.slice(start, stop))
            start = stop
    if parts:
        yield current, parts


@dataclass(frozen=True, slots=True)
class _Overlay:
    """The job of overlaying one base range, or nothing, with the changes that fall to it."""

    files: Files
    below: Range | None
    parts: list[Records]
    breathe: Breathe

    def __call__(self) -> _Piece:
        changes = kernel.concat(self.parts, self.breathe)
        found: list[Records] = []
        changed = 0
        for base, its in self._side_by_side(changes):
            records, differ = kernel.overlay(base, its)
            found.append(records)
            changed += differ
        if self.below is not None and not changed:
            return _Piece(self.below)
        return _Piece(found, changed)

    def _side_by_side(self, changes: Records) -> Iterator[tuple[Records, Records]]:
        """Give the rows below with the changes up to the next of them, in stretches."""
        start = 0
        below = self._base()
        current = next(below, EMPTY)
        for following in below:
            stop = kernel.lower_bound(changes.keys, following.keys[0])
            yield from self._short(current, changes.slice(start, stop))
            current, start = following, stop
        yield from self._short(current, changes.slice(start, len(changes)))

    def _base(self) -> Iterator[Records]:
        if self.below is None:
            return iter(())
        return self.files.range_rows(self.below.id, self.breathe)

    def _short(self, base: Records, changes: Records) -> Iterator[tuple[Records, Records]]:
        """Cut a pair where many changes fall to few rows, and others are to have their turn."""
        while self.breathe is not None and len(changes) > STRETCH_ROWS:
            at = kernel.lower_bound(base.keys, changes.keys[STRETCH_ROWS])
            yield base.slice(0, at), changes.slice(0, STRETCH_ROWS)
            self.breathe()
            base = base.slice(at, len(base))
            changes = changes.slice(STRETCH_ROWS, len(changes))
        yield base, changes
