# SPDX-License-Identifier: Apache-2.0
"""Tables no writer would write: every row says by itself how much it shares and what it holds.

Mutating good files hardly ever gives rows that share into the trailer of the key before, or a block
made of rows of the smallest size. Checksums are right, so that the reader gets there.
"""

from random import Random
from typing import NamedTuple

from lochan.errors import Corruption
from lochan.kernel.interface import Kernel
from lochan.kernel.records import Record
from lochan.kernel.twin import compress, crc32c
from lochan.kernel.twin.block_builder import RAW, SNAPPY, BlockBuilder, seal
from lochan.kernel.twin.coding import put_fixed32, put_length, put_uvarint

TRAILER = b"\x01" * 8  # a SET, of a sequence number that later rows can share
SMALLEST = b"\x02i\x00"


class Written(NamedTuple):
    file: bytes
    index_offset: int
    index_length: int


def table(random: Random) -> Written:
    """Write one table of one to twelve blocks."""
    file, last = b"", b""
    index = BlockBuilder(1)
    for _ in range(random.choice([1, 2, 12])):
        content, last = _block(random, last + b"\x02" if last else b"")
        if random.random() < 0.5:
            stored = seal(compress(content), SNAPPY, crc32c)
        else:
            stored = seal(content, RAW, crc32c)
        index.add(last + TRAILER, put_uvarint(len(file)) + put_uvarint(len(stored) - 5))
        file += stored
    block = index.finish()
    return Written(file + seal(block, RAW, crc32c), len(file), len(block))


def _block(random: Random, first: bytes) -> tuple[bytes, bytes]:
    """Write rows; gives the block and its last user key."""
    rows, restarts, key = b"", list[int](), b""
    small = random.random() < 0.5
    for number in range(random.choice([1, 3, 16, 60, 150])):
        if number == 0 or random.random() < 0.05:
            restarts.append(len(rows))
            shared = 0
            rest = (first if number == 0 else key[:-8] + b"\x01") + TRAILER
        else:
            shared = max(0, len(key) - random.choice([0, 0, 0, 1, 7, 8, 9]))
            rest = b"\x01" * random.choice([1, 1, 1, 2, 8, 9, 20])
        value = SMALLEST if small else _value(random)
        rows += put_uvarint(shared) + put_uvarint(len(rest)) + put_uvarint(len(value))
        rows += rest + value
        key = key[:shared] + rest
    if random.random() < 0.02:
        restarts.append(random.randrange(len(rows) + 5))
    tail = b"".join(map(put_fixed32, restarts)) + put_fixed32(len(restarts))
    return rows + tail, key[:-8]


def _value(random: Random) -> bytes:
    identity, data = random.choice([1, 2, 20, 300]), random.choice([0, 1, 17, 300])
    return put_length(identity) + b"i" * identity + put_length(data) + b"v" * data


def answer(kernel: Kernel, written: Written) -> list[Record] | None:
    """Read a table by every door; None where it is refused."""
    try:
        opened = kernel.open_table(written.file, "sample", *written[1:], two_level=False)
        rows = opened.scan(0, opened.block_count)
    except Corruption:
        return None
    found = list(rows)
    assert opened.verify() == len(found)
    assert list(opened.get_many(rows.keys)) == found
    assert all(opened.get(row.key) == (row.identity, row.value) for row in found[:5])
    return found
