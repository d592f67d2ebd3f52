# SPDX-License-Identifier: Apache-2.0
"""A fragment: what became of the datums of one shard attempt, in the order of their numbers.

    "LOCHANF1"
    block*      4 bytes length, 4 bytes CRC-32 of the body, body: a msgpack array of DatumRows
    end         4 zero bytes, 8 bytes number of rows

Numbers are big-endian. A block holds up to 1,000 rows. What is cut off or damaged is Corruption
(docs/formats/pipelines.md).
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final
from zlib import crc32

import msgspec

from lochan.errors import Corruption
from lochan.objects.store import IF_ABSENT, ObjectStore
from lochan.pipelines.model.datum import DatumRow

_MAGIC: Final = b"LOCHANF1"
_ROWS: Final = 1000  # a block
_END: Final = bytes(4)

_encode = msgspec.msgpack.Encoder().encode
_decoder: Final = msgspec.msgpack.Decoder(list[DatumRow])


def write_fragment(objects: ObjectStore, address: str, rows: Iterable[DatumRow]) -> None:
    """Store rows, which come in the order of their numbers, as a fragment."""
    objects.put(address, _encoded(rows), when=IF_ABSENT)


def read_fragment(objects: ObjectStore, address: str) -> Iterator[DatumRow]:
    """Yield the rows of a fragment. Raises Corruption, NotFound."""
    with objects.get(address) as reading:
        parts = _Parts(iter(reading), address)
        if parts.take(len(_MAGIC)) != _MAGIC:
            raise parts.damaged("it is no fragment")
        count = 0
        while (length := parts.take(4)) != _END:
            check = parts.take(4)
            body = parts.take(int.from_bytes(length))
            if crc32(body) != int.from_bytes(check):
                raise parts.damaged("a block is not what was written")
            try:
                rows = _decoder.decode(body)
            except msgspec.DecodeError as error:
                raise parts.damaged(f"a block holds no rows: {error}") from error
            count += len(rows)
            yield from rows
        if int.from_bytes(parts.take(8)) != count:
            raise parts.damaged("rows are missing")


def _encoded(rows: Iterable[DatumRow]) -> Iterator[bytes]:
    yield _MAGIC
    left, count = iter(rows), 0
    while some := list(islice(left, _ROWS)):
        body = _encode(some)
        count += len(some)
        yield len(body).to_bytes(4) + crc32(body).to_bytes(4) + body
    yield _END + count.to_bytes(8)


class _Parts:
    """Chunks of any size, taken in parts of known size."""

    def __init__(self, chunks: Iterator[bytes], address: str) -> None:
        self._chunks = chunks
        self._address = address
        self._waiting = bytearray()
        self._offset = 0

    def take(self, size: int) -> bytes:
        while len(self._waiting) < size:
            chunk = next(self._chunks, b"")
            if not chunk:
                raise self.damaged(f"it ends {size - len(self._waiting)} bytes early")
            self._waiting += chunk
        taken = bytes(self._waiting[:size])
        del self._waiting[:size]
        self._offset += size
        return taken

    def damaged(self, reason: str) -> Corruption:
        return Corruption(reason, file=self._address, offset=self._offset)
