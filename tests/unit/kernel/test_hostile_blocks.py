# SPDX-License-Identifier: Apache-2.0
"""Blocks whose checksum is right and whose content is not: what lies behind the checksum."""

import pytest

from lochan.errors import Corruption
from lochan.kernel.interface import MAX_BLOCK, Kernel, Table
from lochan.kernel.records import Column
from lochan.kernel.twin import compress
from lochan.kernel.twin.block_builder import RAW, SNAPPY, BlockBuilder, seal
from lochan.kernel.twin.checksum import crc32c
from lochan.kernel.twin.coding import put_fixed32, put_uvarint
from lochan.kernel.twin.separator import SET_TRAILER

TAIL = put_fixed32(0) + put_fixed32(1)  # one restart point, at the first entry
VALUE = b"\x02i\x02v"


def block(*rows: tuple[bytes, bytes], interval: int = 1) -> bytes:
    builder = BlockBuilder(interval)
    for key, value in rows:
        builder.add(key, value)
    return builder.finish()


def handle(offset: int, length: int) -> bytes:
    return put_uvarint(offset) + put_uvarint(length)


def table(kernel: Kernel, *blocks: tuple[bytes, bytes], index: bytes = b"") -> Table:
    """Join data blocks, each with its separator, and an index that names them."""
    file, rows = b"", []
    for separator, content in blocks:
        rows.append((separator + SET_TRAILER, handle(len(file), len(content))))
        file += seal(content, RAW, crc32c)
    index = index or block(*rows)
    place = (len(file), len(index))
    return kernel.open_table(file + seal(index, RAW, crc32c), "sample", *place, two_level=False)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        put_fixed32(0) + put_fixed32(0),
        put_fixed32(0) + put_fixed32(2),
        put_fixed32(0) + put_fixed32(0xFFFFFFFF),
        put_fixed32(0) * 2 + put_fixed32(2),
        b"\x00\x01\x00k" + put_fixed32(1) + put_fixed32(1),
        b"\x00\x01\x00k" + put_fixed32(0) + put_fixed32(2) + put_fixed32(2),
        b"\x00\x01\x00k" + put_fixed32(0) + put_fixed32(0) + put_fixed32(2),
        b"\x00\x01\x00k" + put_fixed32(0) + put_fixed32(4) + put_fixed32(2),
        b"\x00\x01\x00k\x01\x01\x00l" + put_fixed32(0) + put_fixed32(4) + put_fixed32(2),
        b"\x01\x00\x00" + TAIL,
        b"\x00\x02\x00k" + TAIL,
        b"\x00\x01\x01k" + TAIL,
        b"\x00\x01" + TAIL,
        b"\x00\x01\x00k\x02\x01\x00l" + TAIL,
        b"\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x00k" + TAIL,
        b"\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00k" + TAIL,
        b"\x00\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0fk" + TAIL,
    ],
)
def test_a_block_that_does_not_hold_together_is_refused(kernel: Kernel, content: bytes) -> None:
    file = b"before" + seal(content, RAW, crc32c)
    with pytest.raises(Corruption, match="sample is damaged at offset 6: "):
        kernel.decode_block(file, 6, len(content), "sample")


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 9), (1, 8), (1 << 62, 8), (0, 1 << 62), (2**63 - 1, 2**63 - 1)],
)
def test_a_handle_outside_the_file_is_refused(kernel: Kernel, offset: int, length: int) -> None:
    with pytest.raises(Corruption, match="sample is damaged"):
        kernel.decode_block(seal(TAIL, RAW, crc32c), offset, length, "sample")


@pytest.mark.parametrize("kind", [2, 4, 7, 255])
def test_another_compression_is_refused(kernel: Kernel, kind: int) -> None:
    with pytest.raises(Corruption, match="compress"):
        kernel.decode_block(seal(TAIL, bytes([kind]), crc32c), 0, len(TAIL), "sample")


def test_a_block_that_declares_too_much_is_refused(kernel: Kernel) -> None:
    bomb = put_uvarint(MAX_BLOCK + 1) + compress(bytes(1000))[2:]
    with pytest.raises(Corruption, match="sample is damaged at offset 0: "):
        kernel.decode_block(seal(bomb, SNAPPY, crc32c), 0, len(bomb), "sample")


def test_keys_that_repeat_a_long_one_too_often_are_refused(kernel: Kernel) -> None:
    again = put_uvarint(1 << 16) + b"\x00\x00"
    first = b"\x00" + put_uvarint(1 << 16) + b"\x00" + bytes(1 << 16)
    bomb = first + again * (MAX_BLOCK >> 16) + TAIL
    with pytest.raises(Corruption, match="sample is damaged at offset 0: "):
        kernel.decode_block(seal(bomb, RAW, crc32c), 0, len(bomb), "sample")


def test_a_wrong_checksum_is_refused(kernel: Kernel) -> None:
    file = bytearray(seal(TAIL, RAW, crc32c))
    file[-1] ^= 1
    with pytest.raises(Corruption, match="checksum"):
        kernel.decode_block(bytes(file), 0, len(TAIL), "sample")


def test_raw_and_compressed_blocks_list_their_entries(kernel: Kernel) -> None:
    rows = [(b"a%03d" % i, bytes(i)) for i in range(200)]
    content = block(*rows, interval=16)
    small = compress(content)
    file = seal(content, RAW, crc32c) + seal(small, SNAPPY, crc32c)
    assert kernel.decode_block(file, 0, len(content), "sample") == rows
    assert kernel.decode_block(file, len(content) + 5, len(small), "sample") == rows


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"short", VALUE),
        (b"k\x00" + bytes(7), VALUE),
        (b"k\x02" + bytes(7), VALUE),
        (b"k" + SET_TRAILER, b""),
        (b"k" + SET_TRAILER, b"\x02"),
        (b"k" + SET_TRAILER, b"\x02i\x04v"),
        (b"k" + SET_TRAILER, b"\x03i\x02v"),
        (b"k" + SET_TRAILER, b"\x00\x02v"),
        (b"k" + SET_TRAILER, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01i\x02v"),
    ],
    ids=[
        *("no sequence number", "deletion", "merge", "no value", "no identity bytes"),
        *("long value", "negative length", "empty identity", "huge length"),
    ],
)
def test_a_row_that_is_not_a_record_is_refused(kernel: Kernel, key: bytes, value: bytes) -> None:
    opened = table(kernel, (b"k", block((key, value))))
    for read in (opened.verify, lambda: opened.get(b"k"), lambda: opened.scan(0, 1)):
        with pytest.raises(Corruption, match="sample is damaged at offset 0: "):
            read()


def test_any_sequence_number_and_bytes_behind_the_value_are_read(kernel: Kernel) -> None:
    opened = table(kernel, (b"k", block((b"k\x01\x07" + bytes(6), VALUE + b"more"))))
    assert (opened.verify(), opened.get(b"k")) == (1, (b"i", b"v"))


def rows_of(*keys: bytes) -> bytes:
    return block(*((key + SET_TRAILER, VALUE) for key in keys))


@pytest.mark.parametrize(
    "blocks",
    [
        [(b"d", rows_of(b"c", b"b"))],
        [(b"d", rows_of(b"c", b"c"))],
        [(b"b", rows_of(b"c"))],
        [(b"b", rows_of(b"a")), (b"d", rows_of(b"b"))],
        [(b"b", rows_of(b"c")), (b"d", rows_of(b"a"))],
        [(b"b", rows_of(b"a")), (b"d", TAIL)],
    ],
    ids=["descending", "repeated", "above separator", "below separator", "swapped", "empty"],
)
def test_keys_outside_their_order_are_refused(
    kernel: Kernel, blocks: list[tuple[bytes, bytes]]
) -> None:
    opened = table(kernel, *blocks)
    with pytest.raises(Corruption, match="sample is damaged"):
        opened.verify()
    with pytest.raises(Corruption, match="sample is damaged"):
        opened.scan(0, opened.block_count)
    with pytest.raises(Corruption, match="sample is damaged"):
        opened.objects(b"")


def test_a_look_up_in_swapped_blocks_is_refused_not_missed(kernel: Kernel) -> None:
    opened = table(kernel, (b"b", rows_of(b"c")), (b"d", rows_of(b"a")))
    for key in (b"a", b"b", b"c", b"d"):
        with pytest.raises(Corruption, match="sample is damaged"):
            opened.get(key)
        with pytest.raises(Corruption, match="sample is damaged"):
            opened.get_many(Column.of([key]))


@pytest.mark.parametrize(
    "index",
    [
        TAIL,
        block((b"short", handle(0, 20))),
        block((b"d" + SET_TRAILER, b"")),
        block((b"d" + SET_TRAILER, handle(0, 20) + b"\x00")),
        block((b"d" + SET_TRAILER, handle(0, 1 << 40))),
        block((b"d" + SET_TRAILER, handle(2**64 - 1, 2**64 - 1))),
        block((b"d" + SET_TRAILER, handle(0, 20)), (b"c" + SET_TRAILER, handle(25, 0))),
        block((b"c" + SET_TRAILER, handle(0, 20)), (b"d" + SET_TRAILER, handle(24, 0))),
        block((b"c" + SET_TRAILER, handle(5, 0)), (b"d" + SET_TRAILER, handle(0, 0))),
    ],
    ids=[
        *("empty", "short key", "no handle", "long handle", "past the end", "wrapping"),
        *("descending separators", "overlapping", "descending offsets"),
    ],
)
def test_an_index_that_does_not_hold_together_is_refused(kernel: Kernel, index: bytes) -> None:
    with pytest.raises(Corruption, match="sample is damaged"):
        table(kernel, (b"d", rows_of(b"a", b"b", b"c")), index=index)


def test_swapped_index_partitions_are_refused(kernel: Kernel) -> None:
    data = seal(rows_of(b"a"), RAW, crc32c)
    parts = [block((key + SET_TRAILER, handle(0, len(data) - 5))) for key in (b"d", b"b")]
    file, top = data, []
    for highest, part in zip((b"b", b"d"), parts, strict=True):
        top.append((highest + SET_TRAILER, handle(len(file), len(part))))
        file += seal(part, RAW, crc32c)
    index = block(*top)
    whole = file + seal(index, RAW, crc32c)
    with pytest.raises(Corruption, match="sample is damaged"):
        kernel.open_table(whole, "sample", len(file), len(index), two_level=True)
