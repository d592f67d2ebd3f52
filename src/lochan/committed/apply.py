# SPDX-License-Identifier: Apache-2.0
"""Base and sorted changes give a new metarange: the heart of a commit.

Changes fall to the base range that may hold their key, or to the end. Ranges without changes are
passed on whole and unopened; the others are decoded and overlaid beside the caller, or by stretches
of blocks where others are to have their turn in between. A range whose changes turn out to say what
it holds already is passed on whole as well.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lochan.committed.cuts import Cuts
from lochan.committed.files import Files
from lochan.committed.metarange import MetaRange
from lochan.committed.parallel import Crew, Job
from lochan.committed.range import Range
from lochan.committed.writer import MetaRangeWriter
from lochan.errors import InvalidInput
from lochan.kernel.chosen import kernel
from lochan.kernel.records import EMPTY, Records
from lochan.model.ids import MetaRangeId

_STRETCH_BLOCKS = 64  # some 1,500 rows of a lake's objects: a millisecond or two


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
    breathe: Callable[[], None] | None,
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
    breathe: Callable[[], None] | None

    def __call__(self) -> _Piece:
        changes = kernel.concat(self.parts, self.breathe)
        found: list[Records] = []
        changed = 0
        for base, its in _side_by_side(self._base(), changes):
            records, differ = kernel.overlay(base, its)
            found.append(records)
            changed += differ
        if self.below is not None and not changed:
            return _Piece(self.below)
        return _Piece(found, changed)

    def _base(self) -> Iterator[Records]:
        """Give the rows below: at once, or by stretches between which others have their turn."""
        if self.below is None:
            return
        table = self.files.range_once(self.below.id)
        if self.breathe is None:
            yield table.records()
            return
        for first in range(0, table.block_count, _STRETCH_BLOCKS):
            yield table.scan(first, min(first + _STRETCH_BLOCKS, table.block_count))
            self.breathe()


def _side_by_side(base: Iterator[Records], changes: Records) -> Iterator[tuple[Records, Records]]:
    """Give each stretch of rows with the changes up to its end; the last with all that are left."""
    start = 0
    current = next(base, EMPTY)
    for following in base:
        stop = kernel.lower_bound(changes.keys, following.keys[0])
        yield current, changes.slice(start, stop)
        current, start = following, stop
    yield current, changes.slice(start, len(changes))
