# SPDX-License-Identifier: Apache-2.0
"""Three-way merge of sorted record lists, key by key.

An absent row counts as a value like any other. Rows are compared by identity, in this order:

    dest equals source    both agree: the destination's row, so that its ranges are reused
    source equals base    only the destination changed: its row
    dest equals base      only the source changed: its row
    otherwise             a conflict, reported; the strategy says whose row stands meanwhile
"""

from array import array
from collections.abc import Iterator

from lochan.errors import InvalidInput
from lochan.kernel.interface import MergedRows
from lochan.kernel.records import Record, Records
from lochan.kernel.twin.changes import ABSENT

STRATEGIES = ("", "dest-wins", "source-wins")

Numbers = tuple[int, int, int]


def merge(base: Records, dest: Records, source: Records, strategy: str) -> MergedRows:
    """Merge row by row: a side that equals base yields to the other; equal changes agree."""
    if strategy not in STRATEGIES:
        raise InvalidInput(
            f"merge strategy {strategy!r} is unknown; it is dest-wins or source-wins"
        )
    sides = (list(base), list(dest), list(source))
    rows: list[Record] = []
    conflicts = (array("q"), array("q"), array("q"))
    for numbers in _align(base, dest, source):
        old, ours, theirs = map(_row, sides, numbers)
        if _same(ours, theirs) or _same(theirs, old):
            winner = ours
        elif _same(ours, old):
            winner = theirs
        else:
            winner = theirs if strategy == "source-wins" else ours
            for column, number in zip(conflicts, numbers, strict=True):
                column.append(number)
        if winner:
            rows.append(winner)
    olds, dests, sources = conflicts
    return MergedRows(Records.of(rows), memoryview(olds), memoryview(dests), memoryview(sources))


def _align(*sides: Records) -> Iterator[Numbers]:
    """Give, for every key that any side has, its row number on each side."""
    where: dict[bytes, list[int]] = {}
    for side, records in enumerate(sides):
        for number, key in enumerate(records.keys):
            where.setdefault(key, [ABSENT, ABSENT, ABSENT])[side] = number
    for key in sorted(where):
        base, dest, source = where[key]
        yield base, dest, source


def _row(rows: list[Record], number: int) -> Record | None:
    return None if number == ABSENT else rows[number]


def _same(left: Record | None, right: Record | None) -> bool:
    if left is None or right is None:
        return left is right
    return left.identity == right.identity
