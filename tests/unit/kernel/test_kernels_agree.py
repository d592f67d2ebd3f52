# SPDX-License-Identifier: Apache-2.0
"""Native gives the twin's bytes: ids are names, so a difference of one bit would split a lake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.kernel import twin
from lochan.kernel.interface import STRETCH_ROWS, Kernel
from lochan.kernel.records import EMPTY, Records
from support.record_strategies import (
    Rows,
    changes,
    colliding_rows,
    keys,
    rows,
    to_column,
    to_records,
)

# One row a kilobyte with a long key: blocks and index partitions end in many places.
long_rows = st.dictionaries(
    st.builds(lambda head, tail: head * 300 + tail, st.sampled_from([b"a", b"ab", b"\xff"]), keys),
    st.tuples(st.binary(min_size=1, max_size=40), st.integers(0, 1500).map(bytes)),
    max_size=60,
)


@given(st.one_of(rows(), long_rows))
def test_encode_and_id(native: Kernel, rows: Rows) -> None:
    records = to_records(rows)
    assert native.encode(records) == twin.encode(records)
    assert native.file_id(records) == twin.file_id(records)


@given(st.integers(0, 4), st.integers(3600, 4200))
def test_encode_around_the_block_cut(native: Kernel, more: int, size: int) -> None:
    listed = [(b"a", b"i", b"x" * (size % 4200)), *((b"b%d" % i, b"i", b"") for i in range(more))]
    records = Records.of(listed)
    assert native.encode(records) == twin.encode(records)


def test_encode_of_many_rows(native: Kernel) -> None:
    listed = ((b"data/%07d" % (i * 37), b"%d" % i, b"v" * (i % 90)) for i in range(15000))
    records = Records.of(listed)
    assert native.encode(records) == twin.encode(records)
    assert native.encode(EMPTY) == twin.encode(EMPTY)


def _many(count: int) -> Records:
    return Records.of((b"data/%07d" % i, b"%d" % i, b"v" * (i % 90)) for i in range(count))


@pytest.mark.parametrize("more", [-1, 0, 1, STRETCH_ROWS + 1])
def test_who_breathes_gets_the_same_bytes(kernel: Kernel, more: int) -> None:
    records = _many(STRETCH_ROWS + more)
    parts = [records.slice(at, min(at + 500, len(records))) for at in range(0, len(records), 500)]
    breaths = list[None]()

    def breathe() -> None:
        breaths.append(None)

    assert kernel.encode(records, breathe) == twin.encode(records)
    assert kernel.file_id(records, breathe) == twin.file_id(records)
    stretches = (len(records) - 1) // STRETCH_ROWS
    assert len(breaths) == 2 * stretches
    assert list(kernel.concat(parts, breathe)) == list(records)
    assert len(breaths) == 2 * stretches + (len(parts) - 1) // 5  # five parts make a stretch


def test_who_cannot_breathe_ends_it(kernel: Kernel) -> None:
    def choke() -> None:
        raise InterruptedError

    records = _many(STRETCH_ROWS + 1)
    for work in (
        lambda: kernel.encode(records, choke),
        lambda: kernel.file_id(records, choke),
        lambda: kernel.concat([records, records], choke),
    ):
        with pytest.raises(InterruptedError):
            work()


def test_a_wrong_row_after_a_breath_is_refused(kernel: Kernel) -> None:
    rows = [*_many(STRETCH_ROWS + 1), (b"data", b"1", b"")]
    with pytest.raises(InvalidInput):
        kernel.encode(Records.of(rows), lambda: None)


@given(colliding_rows, changes)
def test_overlay(native: Kernel, base: Rows, some: Rows) -> None:
    ours = native.overlay(to_records(base), to_records(some))
    theirs = twin.overlay(to_records(base), to_records(some))
    assert (list(ours[0]), ours[1]) == (list(theirs[0]), theirs[1])


@given(colliding_rows, colliding_rows)
def test_diff(native: Kernel, left: Rows, right: Rows) -> None:
    sides = (to_records(left), to_records(right))
    assert native.diff(*sides) == twin.diff(*sides)


@given(
    st.sampled_from(["", "dest-wins", "source-wins"]),
    colliding_rows,
    colliding_rows,
    colliding_rows,
)
def test_merge(native: Kernel, strategy: str, base: Rows, dest: Rows, source: Rows) -> None:
    sides = (to_records(base), to_records(dest), to_records(source))
    ours, theirs = native.merge(*sides, strategy), twin.merge(*sides, strategy)
    assert list(ours.records) == list(theirs.records)
    assert ours[1:] == theirs[1:]


@given(rows(30), st.integers(1, 50), st.integers(1, 5000))
def test_cut_points(native: Kernel, some: Rows, raggedness: int, cap: int) -> None:
    records = to_records(some)
    assert native.cut_points(records, raggedness, cap) == twin.cut_points(records, raggedness, cap)


@given(st.lists(keys, max_size=40))
def test_sort_order(native: Kernel, listed: list[bytes]) -> None:
    column = to_column(listed)
    assert native.sort_order(column) == twin.sort_order(column)
