# SPDX-License-Identifier: Apache-2.0
"""Handles and the footer: the facts that reader and writer share. docs/formats/sstable.md.

file     data block*, index block*, properties block, metaindex block, footer
handle   uvarint offset, uvarint length without the trailer
footer   checksum kind (1), metaindex handle, index handle, zeros up to 41 bytes,
         version (fixed32), magic (8 bytes): 53 bytes in all
"""

from dataclasses import dataclass
from typing import NamedTuple

from lochan.errors import Corruption
from lochan.kernel.twin.block_builder import TRAILER_LENGTH
from lochan.kernel.twin.coding import get_fixed32, get_uvarint, put_fixed32, put_uvarint

MAGIC = bytes.fromhex("f7cff485b741e288")
VERSION = 2
CRC32C = b"\x01"
FOOTER_LENGTH = 53
_HANDLES_END = FOOTER_LENGTH - 4 - len(MAGIC)

PROPERTIES_NAME = b"rocksdb.properties"


class BlockHandle(NamedTuple):
    """Where a block is: its offset, and its stored length without the trailer."""

    offset: int
    length: int

    @property
    def end(self) -> int:
        """The first byte behind the block and its trailer."""
        return self.offset + self.length + TRAILER_LENGTH


@dataclass(frozen=True, slots=True)
class Footer:
    """The handles that the last 53 bytes of a file hold."""

    metaindex: BlockHandle
    index: BlockHandle


def put_handle(handle: BlockHandle) -> bytes:
    """Encode a handle."""
    return put_uvarint(handle.offset) + put_uvarint(handle.length)


def get_handle(data: bytes, at: int) -> tuple[BlockHandle, int]:
    """Decode a handle at a position; give the position behind it too."""
    offset, at = get_uvarint(data, at, len(data))
    length, at = get_uvarint(data, at, len(data))
    return BlockHandle(offset, length), at


def put_footer(footer: Footer) -> bytes:
    """Encode a footer."""
    handles = CRC32C + put_handle(footer.metaindex) + put_handle(footer.index)
    return handles.ljust(_HANDLES_END, b"\x00") + put_fixed32(VERSION) + MAGIC


def get_footer(file: bytes | memoryview, name: str) -> Footer:
    """Decode the footer at the end of a file. Raises Corruption, also for other versions."""
    start = len(file) - FOOTER_LENGTH
    stored = bytes(file[max(start, 0) :])
    if start < 0 or not stored.endswith(MAGIC):
        raise Corruption("not a whole table file: the magic is not at its end", file=name)
    version = get_fixed32(stored, _HANDLES_END)
    if version != VERSION:
        raise Corruption(
            f"table format version {version} is not supported; only {VERSION} is",
            file=name,
            offset=start + _HANDLES_END,
        )
    try:
        metaindex, at = get_handle(stored, 1)
        index, at = get_handle(stored, at)
    except Corruption as error:
        raise Corruption(error.reason, file=name, offset=start) from error
    footer = Footer(metaindex, index)
    # Anything but the bytes we would write is refused: another checksum kind, padding that is not
    # zero, a varint that is longer than it need be. No checksum covers the footer.
    if put_footer(footer) != stored:
        raise Corruption(
            "the footer is not in canonical form with CRC-32C", file=name, offset=start
        )
    if metaindex.end != start or index.end > metaindex.offset:
        raise Corruption("the footer names blocks that are not before it", file=name, offset=start)
    return footer
