# SPDX-License-Identifier: Apache-2.0
"""Write one block: prefix compression, restart points, compression, trailer.

    block     entry*, restart offset (fixed32)*, restart count (fixed32)
    entry     uvarint shared, uvarint unshared, uvarint value length, unshared key bytes, value
    stored    block, raw or compressed; type (1 byte); masked crc32c of both (fixed32)

An entry at a restart point shares nothing. Others share bytes with the key before them, though
never bytes of their own sequence number, which lies behind the part of a key that may be shared.
"""

from collections.abc import Callable

from lochan.errors import InvalidInput
from lochan.kernel.interface import MAX_BLOCK
from lochan.kernel.twin.checksum import masked
from lochan.kernel.twin.coding import put_fixed32, put_uvarint, uvarint_length

RAW, SNAPPY = b"\x00", b"\x01"
TRAILER_LENGTH = 5
TARGET_SIZE = 4096
THRESHOLD = 3687  # 90 % of the target: below it a block takes any row


class BlockBuilder:
    """Rows added in order become one block. A builder serves once."""

    __slots__ = ("_buffer", "_interval", "_restarts", "count", "last_key")

    def __init__(self, restart_interval: int) -> None:
        """Begin an empty block with a restart point every so many rows."""
        self._buffer = bytearray()
        self._interval = restart_interval
        self._restarts: list[int] = []
        self.count = 0
        self.last_key = b""

    @property
    def size(self) -> int:
        """The length that the finished block would have; 4 while it is empty."""
        return len(self._buffer) + 4 * len(self._restarts) + 4

    def must_end_before(self, key_length: int, value_length: int) -> bool:
        """Say whether the block ends rather than take one more row of these lengths."""
        if self.count == 0 or self.size <= THRESHOLD:
            return False
        grown = self.size + key_length + value_length + 4
        grown += uvarint_length(key_length) + uvarint_length(value_length)
        grown += 4 if self.count % self._interval == 0 else 0
        return self.size >= TARGET_SIZE or grown > TARGET_SIZE

    def add(self, key: bytes, value: bytes, unshareable: int = 0) -> None:
        """Append a row; the last `unshareable` bytes of its key are always written out."""
        shared = 0
        if self.count % self._interval:
            shared = shared_prefix(self.last_key, key[: len(key) - unshareable])
        else:
            self._restarts.append(len(self._buffer))
        self._buffer += put_uvarint(shared)
        self._buffer += put_uvarint(len(key) - shared)
        self._buffer += put_uvarint(len(value))
        self._buffer += key[shared:]
        self._buffer += value
        self.count += 1
        self.last_key = key

    def finish(self) -> bytes:
        """Give the block; an empty one still has a restart point."""
        restarts = self._restarts or [0]
        block = b"".join((self._buffer, *map(put_fixed32, restarts), put_fixed32(len(restarts))))
        if len(block) > MAX_BLOCK:
            raise InvalidInput(
                f"a block of {len(block)} bytes cannot be stored; rows may take {MAX_BLOCK}"
            )
        return block


def shared_prefix(left: bytes, right: bytes) -> int:
    """Count the leading bytes that two strings share."""
    most = min(len(left), len(right))
    difference = int.from_bytes(left[:most], "big") ^ int.from_bytes(right[:most], "big")
    return most - (difference.bit_length() + 7) // 8


def seal(block: bytes, kind: bytes, crc32c: Callable[[bytes], int]) -> bytes:
    """Append type and checksum to a block as stored."""
    typed = block + kind
    return typed + put_fixed32(masked(crc32c(typed)))
