# SPDX-License-Identifier: Apache-2.0
"""Made-up lakes of any size, as columns: a table of files by day, like any warehouse has.

Record i is the same whatever is asked for with it, keys ascend with i, values are real entry
messages. Columns are filled by numpy, so that making the data costs less than what is measured.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lochan.kernel.records import Column, Records
from lochan.model.codec import encode_entry
from lochan.model.entry import Entry
from lochan.model.instant import from_seconds

DAY = 40_000  # files a day
KEY = b"warehouse/events/day=00000/part-00000000-0123456789abcdef-c000.snappy.parquet"
_DAY_AT, _PART_AT, _NAME_AT = 21, 32, 41
_ADDRESS = "data/gk3v0" + "0" * 15 + "/ck3v0" + "1" * 15 + ".snappy.parquet"
_ETAG = "2" * 32
VALUE = encode_entry(
    Entry(
        address=_ADDRESS, last_modified=from_seconds(1_700_000_000), size=134_217_728, e_tag=_ETAG
    )
)
_ADDRESS_AT, _ETAG_AT = VALUE.index(b"1" * 15), VALUE.index(_ETAG.encode())
_FOUR_DIGITS = np.frombuffer(b"".join(b"%04d" % n for n in range(10_000)), np.uint8).reshape(-1, 4)
_TWO_HEX = np.frombuffer(b"".join(b"%02x" % n for n in range(256)), np.uint8).reshape(-1, 2)

Numbers = NDArray[np.uint64]
Bytes = NDArray[np.uint8]


def records(start: int, stop: int, *, version: int = 0, step: int = 1) -> Records:
    """Make the records start, start + step, ... below stop; a version changes all but the keys."""
    return of_numbers(np.arange(start, stop, step, dtype=np.uint64), version)


def of_numbers(numbers: Numbers, version: int = 0) -> Records:
    """Make the records with these numbers."""
    salt = np.uint64(version) * np.uint64(1 << 40)
    return Records(keys(numbers), _identities(numbers + salt), _values(numbers + salt))


def chunks(count: int, size: int = 500_000) -> Iterator[Records]:
    """Make the first `count` records, some at a time."""
    return (records(start, min(start + size, count)) for start in range(0, count, size))


def keys(numbers: Numbers) -> Column:
    """Make the keys with these numbers."""
    rows = _repeated(KEY, len(numbers))
    _put_digits(rows, _DAY_AT, numbers // np.uint64(DAY), 5)
    _put_digits(rows, _PART_AT, numbers % np.uint64(DAY), 8)
    _put_hex(rows, _NAME_AT, _mixed(numbers))
    return _column(rows)


def _identities(numbers: Numbers) -> Column:
    parts = [_mixed(numbers * np.uint64(4) + np.uint64(part)) for part in range(4)]
    return _column(np.stack(parts, axis=1).view(np.uint8))


def _values(numbers: Numbers) -> Column:
    rows = _repeated(VALUE, len(numbers))
    _put_digits(rows, _ADDRESS_AT, numbers, 15)
    for part in range(2):
        _put_hex(rows, _ETAG_AT + 16 * part, _mixed(numbers ^ np.uint64(part + 1)))
    return _column(rows)


def _repeated(template: bytes, count: int) -> Bytes:
    return np.tile(np.frombuffer(template, dtype=np.uint8), (count, 1))


def _put_digits(rows: Bytes, at: int, numbers: Numbers, width: int) -> None:
    for end in range(width, 0, -4):
        four = _FOUR_DIGITS[(numbers % np.uint64(10_000)).astype(np.intp)]
        start = max(0, end - 4)
        rows[:, at + start : at + end] = four[:, 4 - (end - start) :]
        numbers = numbers // np.uint64(10_000)


def _put_hex(rows: Bytes, at: int, numbers: Numbers) -> None:
    two = _TWO_HEX[numbers.view(np.uint8)]
    rows[:, at : at + 16] = two.reshape(len(numbers), 16)


def _mixed(numbers: Numbers) -> Numbers:
    """Scatter numbers over all 64 bits (splitmix64), so that nothing compresses by accident."""
    x = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _column(rows: Bytes) -> Column:
    count, width = rows.shape
    offsets = np.arange(0, (count + 1) * width, width, dtype=np.int64)
    return Column(np.ascontiguousarray(rows).data.cast("B"), offsets.data)
