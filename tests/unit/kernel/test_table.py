# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import Corruption, InvalidInput
from lochan.kernel.interface import MAX_BLOCK, MAX_COMPONENT, Kernel, Table
from lochan.kernel.records import EMPTY, Records
from lochan.kernel.twin.block_builder import BlockBuilder
from support.record_strategies import Rows, keys, rows, to_column, to_records, to_rows

LONG = b"a" * 1200  # four separators of this length fill an index block
TWO_LEVELS: Rows = {LONG + b"%03d" % i + b"\xff" * 9: (b"id%d" % i, bytes(4000)) for i in range(9)}


def open_rows(kernel: Kernel, records: Records) -> Table:
    encoded = kernel.encode(records)
    two_level = encoded.index_partitions > 0
    place = (encoded.index_offset, encoded.index_length)
    return kernel.open_table(encoded.body, "sample", *place, two_level)


some_rows = st.one_of(rows(), st.just(TWO_LEVELS))


@given(some_rows)
def test_a_scan_gives_back_what_was_encoded(kernel: Kernel, rows: Rows) -> None:
    table = open_rows(kernel, to_records(rows))
    assert to_rows(table.scan(0, table.block_count)) == rows
    assert table.verify() == len(rows)


@given(some_rows, st.lists(keys, max_size=10))
def test_look_ups_equal_a_dictionary(kernel: Kernel, rows: Rows, others: list[bytes]) -> None:
    table = open_rows(kernel, to_records(rows))
    wanted = sorted([*rows, *others, *others])
    assert [table.get(key) for key in wanted] == [rows.get(key) for key in wanted]
    expected = [(key, *rows.get(key, (b"", b""))) for key in wanted]
    assert list(table.get_many(to_column(wanted))) == expected


@given(some_rows, keys)
def test_find_block_passes_over_smaller_keys_only(kernel: Kernel, rows: Rows, key: bytes) -> None:
    table = open_rows(kernel, to_records(rows))
    number = table.find_block(key)
    before, after = table.scan(0, number), table.scan(number, table.block_count)
    assert all(each < key for each in before.keys)
    assert sorted(to_rows(before) | to_rows(after)) == sorted(rows)
    if number < table.block_count and rows:
        assert all(each > max(before.keys, default=b"") or not len(before) for each in after.keys)


def test_long_separators_make_a_second_index_level(kernel: Kernel) -> None:
    encoded = kernel.encode(to_records(TWO_LEVELS))
    assert (encoded.data_blocks, encoded.index_partitions) == (9, 3)
    assert encoded.top_level_index_size > 0


def test_a_table_without_rows_has_one_empty_block(kernel: Kernel) -> None:
    table = open_rows(kernel, EMPTY)
    assert (table.block_count, table.verify(), len(table.scan(0, 1))) == (1, 0, 0)
    assert table.get(b"") is None
    assert list(table.get_many(to_column([b"", b"k"]))) == [(b"", b"", b""), (b"k", b"", b"")]


@pytest.mark.parametrize(("first", "stop"), [(-1, 1), (0, 2), (2, 2), (1, 0)])
def test_a_scan_of_blocks_that_are_not_there_is_refused(
    kernel: Kernel, first: int, stop: int
) -> None:
    table = open_rows(kernel, to_records({b"k": (b"i", b"v")}))
    with pytest.raises(IndexError):
        table.scan(first, stop)


def test_descending_look_ups_are_refused_not_missed(kernel: Kernel) -> None:
    table = open_rows(kernel, to_records(TWO_LEVELS))
    with pytest.raises(InvalidInput):
        table.get_many(to_column([b"b", b"a"]))


@pytest.mark.parametrize(
    "rows",
    [
        [(b"b", b"i", b""), (b"a", b"i", b"")],
        [(b"a", b"i", b""), (b"a", b"i", b"")],
        [(b"a", b"", b"value")],
        [(b"a", b"i", bytes(MAX_COMPONENT + 1))],
    ],
    ids=["descending", "repeated", "no identity", "large value"],
)
def test_rows_that_could_not_be_read_back_are_refused(
    kernel: Kernel, rows: list[tuple[bytes, bytes, bytes]]
) -> None:
    with pytest.raises(InvalidInput):
        kernel.encode(Records.of(rows))


def test_a_block_too_large_to_be_read_back_is_refused(native: Kernel) -> None:
    builder = BlockBuilder(restart_interval=1)  # the twin itself would take a minute to compress it
    builder.add(bytes(MAX_BLOCK), b"")
    with pytest.raises(InvalidInput):
        builder.finish()
    with pytest.raises(InvalidInput):
        native.encode(Records.of([(bytes(MAX_BLOCK), b"i", b"")]))


def test_the_index_must_lie_inside_the_file(kernel: Kernel) -> None:
    encoded = kernel.encode(to_records({b"k": (b"i", b"v")}))
    for place in [(0, 1 << 40), (1 << 62, 1 << 62), (len(encoded.body), 0)]:
        with pytest.raises(Corruption, match="sample is damaged at offset"):
            kernel.open_table(encoded.body, "sample", *place, two_level=False)
