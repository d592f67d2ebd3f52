# SPDX-License-Identifier: Apache-2.0
"""Rows sorted with little memory."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.kernel.records import Record
from lochan.operations.sorted_rows import SortedRows

rows = st.lists(
    st.builds(Record, st.binary(max_size=3), st.binary(max_size=3), st.binary(max_size=5))
)


@settings(max_examples=100, deadline=None)
@given(rows, st.integers(1, 3000))
def test_rows_come_out_in_order_whatever_fits_in_memory(
    given_rows: list[Record], memory: int
) -> None:
    with SortedRows(memory) as sort:
        for row in given_rows:
            sort.add(row)
        assert list(sort) == sorted(given_rows, key=lambda row: row.key)


def test_rows_in_order_need_one_file_and_others_several() -> None:
    names = [b"%03d" % number for number in range(100)]
    for order, files in ((names, 1), (names[::-1], 99)):
        with SortedRows(500) as sort:
            for name in order:
                sort.add(Record(name, b"1", b""))
            assert [row.key for row in sort] == names
            assert sort.files <= files


def test_a_few_rows_need_no_file() -> None:
    with SortedRows() as sort:
        sort.add(Record(b"a", b"1", b""))
        assert (len(list(sort)), sort.files) == (1, 0)
