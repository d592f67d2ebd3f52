# SPDX-License-Identifier: Apache-2.0
"""Rows as a whole: join, sort, pick, search, and say where ranges end."""

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from lochan.errors import InvalidInput
from lochan.kernel.interface import STRETCH_ROWS, Breathe
from lochan.kernel.records import Column, Record, Records
from lochan.kernel.twin.hashing import fnv1a64


def concat(parts: Sequence[Records], breathe: Breathe = None) -> Records:
    """Join record lists end to end."""
    kept = [part for part in parts if len(part)]
    return Records.of(_rows(kept, breathe))


def _rows(parts: Sequence[Records], breathe: Breathe) -> Iterator[Record]:
    rows = 0
    for part in parts:
        if breathe is not None and rows >= STRETCH_ROWS:
            breathe()
            rows = 0
        yield from part
        rows += len(part)


def sort_order(keys: Column) -> memoryview:
    """Give the row numbers (int64) that put keys into byte order; equal keys keep their order."""
    listed = list(keys)
    return memoryview(array("q", sorted(range(len(listed)), key=listed.__getitem__)))


def take(column: Column, rows: memoryview) -> Column:
    """Copy the values with these row numbers (int64) into a new column, in that order."""
    listed = list(column)
    if any(not 0 <= row < len(listed) for row in rows):
        raise IndexError(f"a row number is not among {len(listed)} rows")
    return Column.of([listed[row] for row in rows])


def inverse(rows: memoryview) -> memoryview:
    """Invert a permutation of row numbers: result[rows[i]] = i."""
    places = array("q", bytes(8 * len(rows)))
    for place, row in enumerate(rows):
        places[row] = place
    return memoryview(places)


def lower_bound(keys: Column, key: bytes) -> int:
    """Number the first row whose key is not below `key`; keys are sorted."""
    return bisect_left(keys, key)


def cut_points(records: Records, raggedness: int, cap_bytes: int, carried: int = 0) -> memoryview:
    """Say where ranges end: int64 row counts, each the exclusive end of a finished range.

    A range ends after row i when FNV-1a-64(key) mod raggedness is 0, or when the raw size (key,
    identity and value lengths) since the last cut reaches the cap. Rows after the last cut are
    unfinished. `carried` is the raw size of the rows between the last cut and the first row.
    """
    if raggedness < 1 or cap_bytes < 1:
        raise InvalidInput(f"raggedness {raggedness} and cap {cap_bytes} must be at least 1")
    cuts, size = array("q"), carried
    for number, row in enumerate(records):
        size += sum(map(len, row))
        if size >= cap_bytes or fnv1a64(row.key) % raggedness == 0:
            cuts.append(number + 1)
            size = 0
    return memoryview(cuts)
