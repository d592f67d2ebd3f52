# SPDX-License-Identifier: Apache-2.0
"""The objects of a range, as hashes, remembered beside the lake's own files.

A range never changes, so what it names is worked out once: `_lochan/gc/marks/<range id>` holds the
hash and the size of every object. Two addresses of one hash are one mark, and then a dead object
may be taken for a live one; never the other way round.

    magic      8 bytes   "LOCHANM1"
    count      8 bytes   n, little endian, as all numbers here
    hashes     8 n       FNV-1a-64 of each address in the repository's namespace, signed
    sizes      8 n       as the entry says it
    checksum   4 bytes   CRC-32C of all before it

A file that is damaged in any way counts for nothing: the range is read again. So it is when the
namespace has another spelling, since addresses in full are then others: the name holds its hash.
"""

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

from lochan.committed.files import Files
from lochan.committed.parallel import Crew, Job
from lochan.errors import NotFound
from lochan.kernel.chosen import kernel
from lochan.model.ids import RangeId
from lochan.objects.store import ObjectStore
from lochan.sstable import StoredTable

PREFIX: Final = "_lochan/gc/marks"
_MAGIC: Final = b"LOCHANM1"
_NUMBER: Final = 8
_CHECKSUM: Final = 4
_HEAD: Final = len(_MAGIC) + _NUMBER
_BLOCKS: Final = 256  # are decoded at a time: a processor's cache holds them while they are hashed


class Marks(NamedTuple):
    """The objects of one range: hashes of addresses, and sizes, at the same places."""

    hashes: memoryview
    sizes: memoryview


# Gives the marks of ranges, in any order; a runner with many machines has one of its own.
ReadMarks = Callable[[Iterable[RangeId]], Iterator[Marks]]


class RangeMarks:
    """The marks of one storage namespace's ranges."""

    def __init__(
        self, objects: ObjectStore, files: Files, inside: bytes, crew: Crew | None = None
    ) -> None:
        """Read ranges from `files`, with the help of a crew; `inside` is how our addresses begin.

        Those in full, that is.
        """
        self._crew = crew
        self._objects = objects
        self._files = files
        self._inside = inside
        self.read = 0  # ranges that were read, for tests and reports
        self.remembered = 0

    def __call__(self, ranges: Iterable[RangeId]) -> Iterator[Marks]:
        """Give the marks of each. Raises NotFound, Corruption for ranges that cannot be read."""
        if self._crew is None:
            return map(self.of, ranges)
        return self._crew.in_order(Job(partial(self.of, one)) for one in ranges)

    def of(self, id: RangeId) -> Marks:  # noqa: A002 - the seeds' word
        """Give the marks of a range, and remember them."""
        found = self._find(id)
        if found is not None:
            self.remembered += 1
            return found
        marks = self._worked_out(self._files.range_once(id))
        self._objects.put(self._address(id), encode_marks(marks))
        self.read += 1
        return marks

    def has(self, id: RangeId) -> bool:  # noqa: A002
        """Say whether the marks of a range are remembered."""
        try:
            self._objects.head(self._address(id))
        except NotFound:
            return False
        return True

    def _worked_out(self, table: StoredTable) -> Marks:
        parts = []
        for first in range(0, table.block_count, _BLOCKS):
            rows = table.scan(first, min(first + _BLOCKS, table.block_count))
            parts.append(kernel.entry_objects(rows.values, self._inside))
        hashes, sizes = (b"".join(part[column] for part in parts) for column in range(2))
        return Marks(memoryview(hashes).cast("q"), memoryview(sizes).cast("q"))

    def _find(self, id: RangeId) -> Marks | None:  # noqa: A002
        try:
            with self._objects.get(self._address(id)) as reading:
                return find_marks(reading.read())
        except NotFound:
            return None

    def _address(self, id: RangeId) -> str:  # noqa: A002
        return f"{PREFIX}/{id}-{kernel.fnv1a64(self._inside):016x}"


def encode_marks(marks: Marks) -> bytes:
    """Write the marks of a range as a file."""
    count = len(marks.hashes).to_bytes(_NUMBER, "little")
    body = b"".join((_MAGIC, count, _little(marks.hashes), _little(marks.sizes)))
    return body + kernel.crc32c(body).to_bytes(_CHECKSUM, "little")


def find_marks(data: bytes) -> Marks | None:
    """Read such a file; None unless it is whole."""
    if len(data) < _HEAD + _CHECKSUM or not data.startswith(_MAGIC):
        return None
    count = int.from_bytes(data[len(_MAGIC) : _HEAD], "little")
    end = _HEAD + 2 * _NUMBER * count
    if len(data) != end + _CHECKSUM:
        return None
    if kernel.crc32c(data[:end]) != int.from_bytes(data[end:], "little"):
        return None
    middle = _HEAD + _NUMBER * count
    return Marks(_numbers(data[_HEAD:middle]), _numbers(data[middle:end]))


def _little(numbers: memoryview) -> bytes | memoryview:
    if sys.byteorder == "little":
        return numbers
    swapped = array("q", numbers)
    swapped.byteswap()
    return swapped.tobytes()


def _numbers(data: bytes) -> memoryview:
    if sys.byteorder == "little":
        return memoryview(data).cast("q")
    swapped = array("q", data)
    swapped.byteswap()
    return memoryview(swapped)
