# SPDX-License-Identifier: Apache-2.0
"""Where bytes could make a reader or writer go too far."""

import os
import subprocess
import sys
import threading
from array import array
from random import Random

import pytest

from lochan.errors import Corruption, InvalidInput
from lochan.kernel import twin
from lochan.kernel.interface import MAX_COMPONENT, MAX_KEY, Kernel
from lochan.kernel.records import Column, Records
from lochan.kernel.twin.block_builder import RAW, SNAPPY, BlockBuilder, seal
from lochan.kernel.twin.coding import put_fixed32, put_length, put_uvarint
from support.block_grammar import TRAILER, Written, answer, table


def of_rows(rows: bytes, kernel: Kernel = twin) -> Written:
    """Make a table of one block that holds these rows."""
    content = rows + put_fixed32(0) + put_fixed32(1)
    index = BlockBuilder(1)
    index.add(b"\xff" + TRAILER, put_uvarint(0) + put_uvarint(len(content)))
    file, block = seal(content, RAW, kernel.crc32c), index.finish()
    return Written(file + seal(block, RAW, kernel.crc32c), len(file), len(block))


def test_rows_that_share_the_trailer_before_them_find_room(kernel: Kernel) -> None:
    rows = b"\x00\x08\x03" + TRAILER + b"\x02i\x00"
    for number in range(1, 119):
        rows += put_uvarint(number + 7) + b"\x01\x03\x01\x02i\x00"

    found = answer(kernel, of_rows(rows))

    assert found is not None
    assert [row.key for row in found] == [b"\x01" * number for number in range(119)]


def test_rows_of_any_make_are_read_or_refused_alike(native: Kernel) -> None:
    random = Random(20240701)
    made = [table(random) for _ in range(300)]
    answers = [(answer(native, each), answer(twin, each)) for each in made]
    assert all(ours == theirs for ours, theirs in answers)
    assert 20 < sum(ours is not None for ours, _ in answers) < 300


def test_a_key_longer_than_any_is_not_written(kernel: Kernel) -> None:
    longest = Records.of([(b"k" * MAX_KEY, b"i", b"v")])
    assert kernel.encode(longest).data_blocks == 1
    with pytest.raises(InvalidInput, match=str(MAX_KEY)):
        kernel.encode(Records.of([(b"k" * (MAX_KEY + 1), b"i", b"v")]))


def test_the_largest_row_is_read_back(native: Kernel) -> None:
    rows = Records.of([(b"k" * MAX_KEY, b"i" * MAX_COMPONENT, b"v" * MAX_COMPONENT)])
    encoded = native.encode(rows)
    opened = native.open_table(
        encoded.body, "sample", encoded.index_offset, encoded.index_length, two_level=False
    )
    assert opened.scan(0, 1).raw_size == rows.raw_size


def test_a_key_longer_than_any_is_refused(kernel: Kernel) -> None:
    key = b"k" * (MAX_KEY + 1) + TRAILER
    rows = b"\x00" + put_uvarint(len(key)) + b"\x03" + key + b"\x02i\x00"
    assert answer(kernel, of_rows(rows)) is None


def test_a_component_longer_than_any_is_refused(native: Kernel) -> None:
    value = b"\x02i" + put_length(MAX_COMPONENT + 1) + bytes(MAX_COMPONENT + 1)
    rows = b"\x00\x09" + put_uvarint(len(value)) + b"k" + TRAILER + value
    assert answer(native, of_rows(rows, native)) is None


def test_a_length_in_ten_bytes_is_read(kernel: Kernel) -> None:
    value = b"\x82\x80\x80\x80\x80\x80\x80\x80\x80\x00i\x02v"
    found = answer(kernel, of_rows(b"\x00\x09" + bytes([len(value)]) + b"k" + TRAILER + value))
    assert found == [(b"k", b"i", b"v")]


def test_rel_S19_a_file_that_expands_without_end_is_refused(native: Kernel) -> None:
    file, index = b"", BlockBuilder(1)
    for number in range(8):  # 78 MB of keys each, within the limit of a block
        key = bytes([number]) + b"\x01" * 60_000
        rows = b"\x00" + put_uvarint(len(key) + 8) + b"\x03" + key + TRAILER + b"\x02i\x00"
        for more in range(1300):
            rows += put_uvarint(len(key) + more + 8) + b"\x01\x03\x01\x02i\x00"
        content = native.compress(rows + put_fixed32(0) + put_fixed32(1))
        index.add(
            bytes([number, 255]) + TRAILER, put_uvarint(len(file)) + put_uvarint(len(content))
        )
        file += seal(content, SNAPPY, native.crc32c)
    block = index.finish()
    whole = file + seal(block, RAW, native.crc32c)
    opened = native.open_table(whole, "bomb", len(file), len(block), two_level=False)

    assert len(whole) < 200_000
    assert opened.scan(0, 1).raw_size > 70_000_000
    with pytest.raises(Corruption, match="more than any file"):
        opened.scan(0, 8)


def test_a_column_whose_offsets_descend_is_refused(native: Kernel) -> None:
    column = Column(bytes(100), memoryview(array("q", [0, 90, 10, 100])))
    with pytest.raises(ValueError, match="never decrease"):
        native.take(column, memoryview(array("q", [0, 1])))


def test_a_child_forked_amid_allocations_allocates_too(native: Kernel) -> None:
    rows = Records.of((b"%08d" % number, b"i" * 32, b"v" * 100) for number in range(20_000))
    stop = threading.Event()

    def allocate() -> None:
        while not stop.is_set():
            native.concat([rows, rows])

    busy = threading.Thread(target=allocate)
    busy.start()
    try:
        for _ in range(30):
            child = os.fork()
            if not child:
                native.concat([rows, rows])
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        busy.join()


def test_a_python_without_openssl_keeps_the_compiled_kernel(native: Kernel) -> None:
    code = (
        "import sys; sys.modules['_hashlib'] = None\n"
        "from lochan.kernel import native\n"
        "from lochan.kernel.records import EMPTY\n"
        "print(native.file_id(EMPTY).hex())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == native.file_id(Records.of(())).hex()


def test_damage_names_the_block(native: Kernel) -> None:
    written = of_rows(b"\x00\x09\x03k" + TRAILER + b"\x02i\x00")
    damaged = written.file[:4] + b"\xff" + written.file[5:]
    opened = native.open_table(damaged, "sample", *written[1:], two_level=False)
    with pytest.raises(Corruption, match="sample is damaged at offset 0: "):
        opened.verify()
