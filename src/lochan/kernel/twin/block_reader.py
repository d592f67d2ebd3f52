# SPDX-License-Identifier: Apache-2.0
"""Read one block: bounds, checksum, expansion, entries. The layout is in `block_builder`.

Nothing in a block is believed before it is checked, in this order: the handle lies inside the file;
the checksum agrees; the expanded size is legal; restart points and entries fit each other exactly.
A few bytes of an entry can repeat a long key, so a block's keys together are held to its limit.
"""

from struct import unpack_from

from lochan.errors import Corruption
from lochan.kernel.interface import MAX_BLOCK
from lochan.kernel.twin.block_builder import TRAILER_LENGTH
from lochan.kernel.twin.checksum import crc32c, masked
from lochan.kernel.twin.coding import get_fixed32, get_uvarint
from lochan.kernel.twin.snappy import decompress

Entry = tuple[bytes, bytes]


def decode_block(file: bytes | memoryview, offset: int, length: int, name: str) -> list[Entry]:
    """Read one block at a handle: check bounds and checksum, expand, list its (key, value)s."""
    try:
        return _entries(_expand(file, offset, length))
    except Corruption as error:
        raise Corruption(error.reason, file=name, offset=offset) from error


def _expand(file: bytes | memoryview, offset: int, length: int) -> bytes:
    end = offset + length
    if offset < 0 or length < 0 or end + TRAILER_LENGTH > len(file):
        raise Corruption(f"a block of {length} bytes does not fit a file of {len(file)}")
    stored = bytes(file[offset : end + TRAILER_LENGTH])
    if masked(crc32c(stored[: length + 1])) != get_fixed32(stored, length + 1):
        raise Corruption("the checksum does not match")
    kind, block = stored[length], stored[:length]
    if kind == 0:
        if length > MAX_BLOCK:
            raise Corruption(f"a block has {length} bytes, more than {MAX_BLOCK}")
        return block
    if kind == 1:
        return decompress(block)
    raise Corruption(f"compression {kind} is not supported; only 0 (none) and 1 (snappy) are")


def _restart_points(block: bytes) -> tuple[int, tuple[int, ...]]:
    """Give where the entries end, and the restart offsets behind them."""
    if len(block) < 8:
        raise Corruption(f"a block of {len(block)} bytes has no room for a restart point")
    count = get_fixed32(block, len(block) - 4)
    end = len(block) - 4 - 4 * count
    if count == 0 or end < 0:
        raise Corruption(f"a block of {len(block)} bytes cannot hold {count} restart points")
    restarts = unpack_from(f"<{count}I", block, end)
    if restarts[0] != 0:
        raise Corruption("the first restart point is not the first entry")
    return end, restarts


def _entries(block: bytes) -> list[Entry]:
    end, restarts = _restart_points(block)
    if end == 0:
        if len(restarts) > 1:
            raise Corruption("a block without entries has several restart points")
        return []
    entries: list[Entry] = []
    later = iter(restarts)
    restart, key, at, written_out = next(later), b"", 0, 0
    while at < end:
        start = at
        # Most fields take one byte. Three bytes are always there: restart points follow.
        shared, unshared, size = block[at : at + 3]
        at += 3
        if shared | unshared | size >= 0x80:
            shared, at = get_uvarint(block, start, end)
            unshared, at = get_uvarint(block, at, end)
            size, at = get_uvarint(block, at, end)
        middle = at + unshared
        if shared > len(key) or middle + size > end:
            raise Corruption(f"the entry at byte {start} of the block does not fit it")
        if start == restart:
            if shared:
                raise Corruption(f"the restart point at byte {start} of the block shares a prefix")
            restart = next(later, -1)
        key = key[:shared] + block[at:middle]
        written_out += len(key)
        if written_out > MAX_BLOCK:
            raise Corruption(f"the keys of a block take more than {MAX_BLOCK} bytes")
        at = middle + size
        entries.append((key, block[middle:at]))
    if restart != -1:
        raise Corruption(f"no entry begins at the restart point {restart}")
    return entries
