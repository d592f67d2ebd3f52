# SPDX-License-Identifier: Apache-2.0
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.errors import InvalidInput
from lochan.kernel.interface import Kernel
from lochan.kernel.records import EMPTY, Records
from support.record_strategies import (
    Rows,
    changes,
    colliding_rows,
    keys,
    rows,
    to_column,
    to_records,
    to_rows,
)

STRATEGIES = ["", "dest-wins", "source-wins"]


@given(st.lists(rows(8), max_size=4))
def test_concat_joins_end_to_end(kernel: Kernel, parts: list[Rows]) -> None:
    joined = kernel.concat([to_records(part) for part in parts])
    assert list(joined) == [row for part in parts for row in to_records(part)]


@given(st.lists(keys, max_size=30))
def test_sort_order_is_stable_byte_order(kernel: Kernel, listed: list[bytes]) -> None:
    order = kernel.sort_order(to_column(listed))
    assert order.format == "q"
    assert list(order) == sorted(range(len(listed)), key=listed.__getitem__)


@given(st.data())
def test_take_picks_rows_in_the_order_asked_for(kernel: Kernel, data: st.DataObject) -> None:
    listed = data.draw(st.lists(keys, min_size=1, max_size=10))
    wanted = data.draw(st.lists(st.integers(0, len(listed) - 1), max_size=20))
    taken = kernel.take(to_column(listed), memoryview(array("q", wanted)))
    assert list(taken) == [listed[row] for row in wanted]


@pytest.mark.parametrize("row", [-1, 3, 1 << 40, -(1 << 40)])
def test_take_refuses_a_row_that_is_not_there(kernel: Kernel, row: int) -> None:
    with pytest.raises(IndexError):
        kernel.take(to_column([b"a", b"b", b"c"]), memoryview(array("q", [0, row])))


@given(st.sets(keys, max_size=20), keys)
def test_lower_bound_counts_the_smaller_keys(kernel: Kernel, some: set[bytes], key: bytes) -> None:
    assert kernel.lower_bound(to_column(sorted(some)), key) == sum(each < key for each in some)


@given(colliding_rows, changes)
def test_overlay_equals_a_dictionary(kernel: Kernel, base: Rows, some: Rows) -> None:
    expected, count = dict(base), 0
    for key, (identity, value) in some.items():
        if identity and base.get(key, (None,))[0] != identity:
            expected[key] = (identity, value)
            count += 1
        elif not identity and key in expected:
            del expected[key]
            count += 1
    found, changed = kernel.overlay(to_records(base), to_records(some))
    assert (to_rows(found), changed) == (expected, count)


def test_writing_the_same_content_again_keeps_the_old_value(kernel: Kernel) -> None:
    base = Records.of([(b"k", b"same", b"old address")])
    found, changed = kernel.overlay(base, Records.of([(b"k", b"same", b"new address")]))
    assert (list(found), changed) == (list(base), 0)


@pytest.mark.parametrize("keys", [[b"k", b"a"], [b"a", b"a"], [b"a", b"c", b"b"]])
def test_overlay_refuses_changes_out_of_order(kernel: Kernel, keys: list[bytes]) -> None:
    base = Records.of([(b"a", b"1", b""), (b"b", b"1", b"")])
    with pytest.raises(InvalidInput, match="comes after"):
        kernel.overlay(base, Records.of([(key, b"", b"") for key in keys]))


def test_removing_what_is_not_there_is_no_change(kernel: Kernel) -> None:
    found, changed = kernel.overlay(EMPTY, Records.of([(b"k", b"", b"")]))
    assert (len(found), changed) == (0, 0)


@given(rows(30), st.integers(1, 5), st.integers(1, 400), st.integers(0, 500))
def test_cuts_follow_hash_and_size(
    kernel: Kernel, some: Rows, raggedness: int, cap: int, carried: int
) -> None:
    expected, size = [], carried
    for number, (key, row) in enumerate(sorted(some.items())):
        size += len(key) + len(row[0]) + len(row[1])
        if kernel.fnv1a64(key) % raggedness == 0 or size >= cap:
            expected.append(number + 1)
            size = 0
    assert list(kernel.cut_points(to_records(some), raggedness, cap, carried)) == expected


@given(rows(30), st.integers(0, 30), st.integers(1, 400))
def test_cuts_of_a_list_in_two_parts_are_those_of_the_whole(
    kernel: Kernel, some: Rows, split: int, cap: int
) -> None:
    records = to_records(some)
    split = min(split, len(records))
    first = list(kernel.cut_points(records.slice(0, split), 7, cap))
    carried = records.slice(first[-1] if first else 0, split).raw_size
    second = kernel.cut_points(records.slice(split, len(records)), 7, cap, carried)
    joined = first + [split + cut for cut in second]
    assert joined == list(kernel.cut_points(records, 7, cap))


@pytest.mark.parametrize(("raggedness", "cap"), [(0, 1), (1, 0), (-1, 5)])
def test_cuts_of_no_meaning_are_refused(kernel: Kernel, raggedness: int, cap: int) -> None:
    with pytest.raises(InvalidInput):
        kernel.cut_points(to_records({b"k": (b"i", b"v")}), raggedness, cap)


@given(colliding_rows, colliding_rows)
def test_diff_equals_a_dictionary(kernel: Kernel, left: Rows, right: Rows) -> None:
    expected = []
    old, new = sorted(left), sorted(right)
    for key in sorted(left.keys() | right.keys()):
        if key not in left:
            expected.append((b"a"[0], -1, new.index(key)))
        elif key not in right:
            expected.append((b"r"[0], old.index(key), -1))
        elif left[key][0] != right[key][0]:
            expected.append((b"c"[0], old.index(key), new.index(key)))
    found = kernel.diff(to_records(left), to_records(right))
    assert list(zip(*found, strict=True)) == expected


@given(st.sampled_from(STRATEGIES), colliding_rows, colliding_rows, colliding_rows)
def test_merge_equals_a_dictionary(
    kernel: Kernel, strategy: str, base: Rows, dest: Rows, source: Rows
) -> None:
    expected: Rows = {}
    conflicts = []
    for key in sorted(base.keys() | dest.keys() | source.keys()):
        old, ours, theirs = (side.get(key, (None, b""))[0] for side in (base, dest, source))
        conflict = ours not in (theirs, old) and theirs != old
        if conflict:
            conflicts.append(tuple(row_number(side, key) for side in (base, dest, source)))
        take_source = strategy == "source-wins" if conflict else ours == old and theirs != old
        winner = (source if take_source else dest).get(key)
        if winner:
            expected[key] = winner
    merged = kernel.merge(to_records(base), to_records(dest), to_records(source), strategy)
    assert to_rows(merged.records) == expected
    assert list(zip(merged.base, merged.dest, merged.source, strict=True)) == conflicts


def row_number(side: Rows, key: bytes) -> int:
    return sorted(side).index(key) if key in side else -1


def test_merge_refuses_an_unknown_strategy(kernel: Kernel) -> None:
    with pytest.raises(InvalidInput, match="ours"):
        kernel.merge(EMPTY, EMPTY, EMPTY, "ours")
