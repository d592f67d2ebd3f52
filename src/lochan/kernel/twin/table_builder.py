# SPDX-License-Identifier: Apache-2.0
"""Write the rows of a table: data blocks, then the index in one level or two.

A data block ends before a row that would take it past its target size; index blocks end by the same
rule, and the index has a second level as soon as it has a second block. Byte layout:
docs/formats/sstable.md.
"""

from lochan.errors import InvalidInput
from lochan.kernel.interface import MAX_COMPONENT, MAX_KEY, STRETCH_ROWS, Breathe, EncodedBlocks
from lochan.kernel.records import Records
from lochan.kernel.twin.block_builder import RAW, SNAPPY, TRAILER_LENGTH, BlockBuilder, seal
from lochan.kernel.twin.checksum import crc32c
from lochan.kernel.twin.coding import put_uvarint
from lochan.kernel.twin.separator import NO_ROW_TRAILER, SET_TRAILER, separator, successor
from lochan.kernel.twin.snappy import compress
from lochan.kernel.twin.value_record import join_value

DATA_RESTARTS = 16
INDEX_RESTARTS = 1
ASSUMED_HANDLE = 20  # two uvarints of at most ten bytes; the cut rule counts that many


class _Body:
    """The bytes written so far; blocks are appended and named by handles."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = bytearray()

    def append(self, block: bytes) -> tuple[int, int]:
        """Store a block, compressed if that saves an eighth; give its offset and stored length."""
        small = compress(block)
        if len(small) < len(block) - len(block) // 8:
            stored = seal(small, SNAPPY, crc32c)
        else:
            stored = seal(block, RAW, crc32c)
        offset = len(self.bytes)
        self.bytes += stored
        return offset, len(stored) - TRAILER_LENGTH


class _Index:
    """The index in memory: full partitions and the one being filled."""

    __slots__ = ("full", "open")

    def __init__(self) -> None:
        self.full: list[BlockBuilder] = []
        self.open = BlockBuilder(INDEX_RESTARTS)

    def add(self, key: bytes, handle: tuple[int, int]) -> None:
        """Name a data block by its separator."""
        if self.open.must_end_before(len(key), ASSUMED_HANDLE):
            self.full.append(self.open)
            self.open = BlockBuilder(INDEX_RESTARTS)
        self.open.add(key, _handle_bytes(handle))


def encode(records: Records, breathe: Breathe = None) -> EncodedBlocks:
    """Write data and index blocks. Raises InvalidInput unless keys strictly increase."""
    body, index, block = _Body(), _Index(), BlockBuilder(DATA_RESTARTS)
    raw_value_size = 0
    last: bytes | None = None
    for number, (key, identity, data) in enumerate(records):
        if breathe is not None and number and number % STRETCH_ROWS == 0:
            breathe()
        _check_row(number, last, key, identity, data)
        value = join_value(identity, data)
        if last is not None and block.must_end_before(len(key) + 8, len(value)):
            index.add(separator(last, key), body.append(block.finish()))
            block = BlockBuilder(DATA_RESTARTS)
        block.add(key + SET_TRAILER, value, unshareable=8)
        raw_value_size += len(value)
        last = key

    estimated_size = len(body.bytes) + block.size + index.open.size
    final = NO_ROW_TRAILER if last is None else successor(last)
    index.add(final, body.append(block.finish()))
    data_size = len(body.bytes)
    top, index_size, partitions = _finish_index(body, index)
    offset, length = body.append(top)
    return EncodedBlocks(
        body=bytes(body.bytes),
        index_offset=offset,
        index_length=length,
        index_partitions=partitions,
        top_level_index_size=len(top) if partitions else 0,
        index_size=index_size,
        data_size=data_size,
        data_blocks=index.open.count + sum(each.count for each in index.full),
        raw_key_size=records.keys.size_bytes + 8 * len(records),
        raw_value_size=raw_value_size,
        estimated_size=estimated_size,
    )


def _finish_index(body: _Body, index: _Index) -> tuple[bytes, int, int]:
    """Give the index block that the footer names, the index size property and the partitions."""
    if not index.full:
        single = index.open.finish()
        return single, len(single) + TRAILER_LENGTH, 0
    top, size = BlockBuilder(INDEX_RESTARTS), 0
    for partition in (*index.full, index.open):
        block = partition.finish()
        top.add(partition.last_key, _handle_bytes(body.append(block)))
        size += len(block)
    # One trailer is counted however many partitions there are: so does the format's first writer.
    return top.finish(), size + top.size + TRAILER_LENGTH, top.count


def _handle_bytes(handle: tuple[int, int]) -> bytes:
    offset, length = handle
    return put_uvarint(offset) + put_uvarint(length)


def _check_row(number: int, last: bytes | None, key: bytes, identity: bytes, data: bytes) -> None:
    if last is not None and key <= last:
        raise InvalidInput(f"row {number} has key {key!r}, which is not above {last!r}; sort first")
    if not identity:
        raise InvalidInput(f"row {number} has an empty identity; a removal cannot be stored")
    if len(key) > MAX_KEY:
        raise InvalidInput(f"row {number} has a key of {len(key)} bytes; it may have {MAX_KEY}")
    if max(len(identity), len(data)) > MAX_COMPONENT:
        raise InvalidInput(
            f"row {number} has an identity of {len(identity)} and a value of {len(data)} bytes;"
            f" each may have {MAX_COMPONENT}"
        )
