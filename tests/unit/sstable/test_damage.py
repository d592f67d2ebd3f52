# SPDX-License-Identifier: Apache-2.0
"""V9: no change of one byte and no truncation goes unseen, and the error says where."""

from hashlib import sha256

import pytest

from lochan.errors import Corruption
from lochan.kernel import twin
from lochan.kernel.interface import Kernel
from lochan.kernel.records import Records
from lochan.sstable import read_table
from support.table_samples import data_blocks, sample_metarange, sample_range, written

FILES = {
    "range": written(sample_range(), "ranges", twin),
    "metarange": written(sample_metarange(), "metaranges", twin),
}


def is_found(data: bytes, name: str, kernel: Kernel) -> bool:
    """Open and verify; say whether damage was reported with the file's name and an offset."""
    try:
        read_table(data, name, kernel=kernel).verify()
    except Corruption as error:
        place = f"{name} is damaged at offset {error.offset}: "
        return str(error).startswith(place)
    return False


@pytest.mark.parametrize("kind", FILES)
def test_the_samples_are_whole_and_small(kernel: Kernel, kind: str) -> None:
    name, data = FILES[kind]
    opened = read_table(data, name, kernel=kernel)
    assert opened.verify() > 0
    assert len(data) < 8192
    two_level = opened.properties["rocksdb.block.based.table.index.type"] == b"\x02\0\0\0"
    assert two_level == (kind == "metarange")


@pytest.mark.parametrize("kind", FILES)
def test_every_flip_of_one_byte_is_found(kernel: Kernel, kind: str) -> None:
    name, data = FILES[kind]
    # The twin's checksum takes half a millisecond a file: it gets every ninth byte, once each.
    slow = kernel is twin
    damaged = bytearray(data)
    missed = []
    for at in range(0, len(data), 9 if slow else 1):
        for mask in [0xFF] if slow else [0xFF, 0x80, 0x01]:
            damaged[at] ^= mask
            if not is_found(bytes(damaged), name, kernel):
                missed.append((at, mask))
            damaged[at] ^= mask
    assert missed == []


@pytest.mark.parametrize("kind", FILES)
def test_every_truncation_is_found(kernel: Kernel, kind: str) -> None:
    name, data = FILES[kind]
    assert [n for n in range(len(data)) if not is_found(data[:n], name, kernel)] == []
    assert [n for n in range(1, len(data)) if not is_found(data[n:], name, kernel)] == []


def test_damage_in_a_data_block_is_told_with_the_offset_of_the_block(kernel: Kernel) -> None:
    name, data = FILES["range"]
    for handle in data_blocks(data, kernel):
        damaged = bytearray(data)
        damaged[handle.offset + handle.length // 2] ^= 1
        with pytest.raises(Corruption) as caught:
            read_table(bytes(damaged), name, kernel=kernel).verify()
        assert (caught.value.file, caught.value.offset) == (name, handle.offset)


def incompressible(number: int) -> bytes:
    return b"".join(sha256(b"%d %d" % (number, part)).digest() for part in range(120))


def test_swapped_blocks_are_found(kernel: Kernel) -> None:
    rows = [(b"key %d" % number, b"i", incompressible(number)) for number in range(4)]
    name, data = written(Records.of(rows), "ranges", kernel)
    _, one, two, _ = data_blocks(data, kernel)
    assert one.length == two.length
    first, second = data[one.offset : one.end], data[two.offset : two.end]
    swapped = data[: one.offset] + second + first + data[two.end :]
    assert is_found(swapped, name, kernel)
    opened = read_table(swapped, name, kernel=kernel)
    for key in (b"key 1", b"key 2"):
        with pytest.raises(Corruption, match=name):
            opened.get(key)
