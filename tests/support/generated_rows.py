# SPDX-License-Identifier: Apache-2.0
"""Millions of rows as columns, filled by numpy: row n is the same whatever is made with it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lochan.kernel.records import Column, Records

FILES_PER_DAY = 10_000
KEY = b"lake/day=0000000/part-0000000.parquet"
_DAY_AT, _PART_AT, _DIGITS = 9, 22, 7
VALUE = b"\x0a\x1adata/gk3l2v0/" + bytes(8) + b"\x18\x80\x80\x40"
_ADDRESS_AT = VALUE.index(bytes(8))

Numbers = NDArray[np.uint64]


def generated(start: int, stop: int, version: int = 0) -> Records:
    """Make the rows start to stop - 1; another version has the same keys and nothing else."""
    numbers = np.arange(start, stop, dtype=np.uint64)
    random = [_scattered(numbers * np.uint64(5) + np.uint64(n + (version << 40))) for n in range(5)]
    keys, values = (
        np.tile(np.frombuffer(each, np.uint8), (len(numbers), 1)) for each in (KEY, VALUE)
    )
    _put_decimal(keys, _DAY_AT, numbers // np.uint64(FILES_PER_DAY))
    _put_decimal(keys, _PART_AT, numbers % np.uint64(FILES_PER_DAY))
    values[:, _ADDRESS_AT : _ADDRESS_AT + 8] = random[4].view(np.uint8).reshape(-1, 8)
    identities = np.stack(random[:4], axis=1).view(np.uint8)
    return Records(_column(keys), _column(identities), _column(values))


def in_pieces(count: int, size: int = 250_000) -> Iterator[Records]:
    """Make the first `count` rows, some at a time."""
    return (generated(start, min(start + size, count)) for start in range(0, count, size))


def _scattered(numbers: Numbers) -> Numbers:
    """Spread numbers over all 64 bits (splitmix64): hashes do not compress."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _put_decimal(rows: NDArray[np.uint8], at: int, numbers: Numbers) -> None:
    for place in range(_DIGITS - 1, -1, -1):
        rows[:, at + place] = numbers % np.uint64(10) + np.uint64(ord("0"))
        numbers = numbers // np.uint64(10)


def _column(rows: NDArray[np.uint8]) -> Column:
    count, width = rows.shape
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int64)
    return Column(np.ascontiguousarray(rows).data.cast("B"), offsets.data)
