# SPDX-License-Identifier: Apache-2.0
"""The objects of a range, as hashes, remembered beside the lake's own files.

A range never changes, so what it names is worked out once: `_lochan/gc/marks/<range id>` holds the
hash and the size of every object. Two addresses of one hash are one mark, and then a dead object
may be taken for a live one; never the other way round.

    magic      8 bytes   "LOCHANM2"
    count      8 bytes   n, little endian, as all numbers here
    hashes     8 n       FNV-1a-64 of each address in the repository's namespace, signed
    sizes      8 n       as the entry says it
    checksums  12 bytes  CRC-32C of magic and count, of the hashes, of the sizes

A file that is damaged in any way counts for nothing: the range is read again. So it is when the
namespace has another spelling, since addresses in full are then others: the name holds its hash.
"""

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from struct import Struct
from typing import Final, NamedTuple

from lochan.committed.files import Files
from lochan.committed.parallel import Crew, Job
from lochan.errors import NotFound
from lochan.kernel.chosen import kernel
from lochan.model.ids import RangeId
from lochan.objects.store import ObjectStore

PREFIX: Final = "_lochan/gc/marks"
_MAGIC: Final = b"LOCHANM2"
_NUMBER: Final = 8
_CHECKSUMS: Final = Struct("<3I")
_HEAD: Final = len(_MAGIC) + _NUMBER


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
        marks = Marks(*self._files.range_once(id).table.objects(self._inside))
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

    def _find(self, id: RangeId) -> Marks | None:  # noqa: A002
        try:
            with self._objects.get(self._address(id)) as reading:
                return find_marks(reading.read())
        except NotFound:
            return None

    def _address(self, id: RangeId) -> str:  # noqa: A002
        return f"{PREFIX}/{id}-{kernel.fnv1a64(self._inside):016x}"


def encode_marks(marks: Marks) -> Sequence[bytes | memoryview]:
    """Write the marks of a range as the pieces of a file: they are large, and copied nowhere."""
    head = _MAGIC + len(marks.hashes).to_bytes(_NUMBER, "little")
    pieces = (head, _little(marks.hashes), _little(marks.sizes))
    return (*pieces, _CHECKSUMS.pack(*map(kernel.crc32c, pieces)))


def find_marks(data: bytes) -> Marks | None:
    """Read such a file; None unless it is whole."""
    if len(data) < _HEAD + _CHECKSUMS.size or not data.startswith(_MAGIC):
        return None
    count = int.from_bytes(data[len(_MAGIC) : _HEAD], "little")
    middle, end = _HEAD + _NUMBER * count, _HEAD + 2 * _NUMBER * count
    if len(data) != end + _CHECKSUMS.size:
        return None
    whole = memoryview(data)
    hashes, sizes = whole[_HEAD:middle], whole[middle:end]
    if _CHECKSUMS.pack(*map(kernel.crc32c, (whole[:_HEAD], hashes, sizes))) != data[end:]:
        return None
    return Marks(_numbers(hashes), _numbers(sizes))


def _little(numbers: memoryview) -> bytes | memoryview:
    if sys.byteorder == "little":
        return numbers.cast("B")
    swapped = array("q", numbers)
    swapped.byteswap()
    return swapped.tobytes()


def _numbers(data: memoryview) -> memoryview:
    if sys.byteorder == "little":
        return data.cast("q")
    swapped = array("q", bytes(data))
    swapped.byteswap()
    return memoryview(swapped)
