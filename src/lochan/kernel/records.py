# SPDX-License-Identifier: Apache-2.0
"""Rows in memory: three columns, each one contiguous buffer and its offsets.

A `Column` of n values is a buffer and n + 1 signed 64-bit offsets into it; value i is
`data[offsets[i]:offsets[i + 1]]`. Offsets never decrease, and the first need not be 0: a slice
shares the buffer of the whole. This is Arrow's large_binary layout, so pyarrow and numpy take the
buffers without a copy.

`Records` joins the columns of a range: keys, strictly increasing in byte order; identities; values.
Where records are *changes*, an empty identity is a tombstone; where they answer a look-up, it means
that the key is absent. No stored record has an empty identity.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple


class Record(NamedTuple):
    """One row, copied out of its columns."""

    key: bytes
    identity: bytes
    value: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Byte strings in one buffer; `offsets` is a contiguous memoryview of format q, one longer."""

    data: bytes | memoryview
    offsets: memoryview

    @classmethod
    def of(cls, values: Sequence[bytes]) -> "Column":
        """Join separate byte strings into a column."""
        ends = accumulate(map(len, values), initial=0)
        return cls(b"".join(values), memoryview(array("q", ends)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return bytes(self.data[self.offsets[index] : self.offsets[index + 1]])

    def __iter__(self) -> Iterator[bytes]:
        data, offsets = self.data, self.offsets
        return (bytes(data[offsets[i] : offsets[i + 1]]) for i in range(len(self)))

    def slice(self, start: int, stop: int) -> "Column":
        """Give the values start to stop - 1, sharing this column's buffer."""
        return Column(self.data, self.offsets[start : max(start, stop) + 1])

    @property
    def size_bytes(self) -> int:
        """The length of all values together."""
        return int(self.offsets[-1]) - int(self.offsets[0])


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Rows of a range, or changes to one, as columns of equal length."""

    keys: Column
    identities: Column
    values: Column

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes, bytes, bytes]]) -> "Records":
        """Turn (key, identity, value) rows into columns; the rows must be in key order already."""
        listed = list(rows)
        return cls(
            Column.of([row[0] for row in listed]),
            Column.of([row[1] for row in listed]),
            Column.of([row[2] for row in listed]),
        )

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: int) -> Record:
        return Record(self.keys[index], self.identities[index], self.values[index])

    def __iter__(self) -> Iterator[Record]:
        return map(Record, self.keys, self.identities, self.values)

    def slice(self, start: int, stop: int) -> "Records":
        """Give the rows start to stop - 1 without copying."""
        return Records(
            self.keys.slice(start, stop),
            self.identities.slice(start, stop),
            self.values.slice(start, stop),
        )

    @property
    def raw_size(self) -> int:
        """Key, identity and value lengths, before any encoding: what the size cap counts."""
        return self.keys.size_bytes + self.identities.size_bytes + self.values.size_bytes


EMPTY = Records.of(())
