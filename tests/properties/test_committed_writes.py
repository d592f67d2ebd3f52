# SPDX-License-Identifier: Apache-2.0
"""Apply and merge equal a dictionary; files are named and cut by the records alone (D1-D4)."""

import os
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.committed import Cuts, Snapshots
from lochan.errors import InvalidInput
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId
from support import tree_model
from support.record_strategies import Rows
from support.tree_model import applied, differing
from support.tree_strategies import changes, cuts, examples, keys, places, trees
from support.trees import (
    Watched,
    build,
    content,
    in_chunks,
    memory_objects,
    open_snapshots,
    range_ids,
)

STRATEGIES = ["", "dest-wins", "source-wins"]


def test_the_kernel_that_was_asked_for_is_the_one_that_runs() -> None:
    asked = os.environ.get("LOCHAN_KERNEL")
    assert asked is None or kernel is import_module(f"lochan.kernel.{asked}")


def check(snapshots: Snapshots, found: MetaRangeId, rows: Rows) -> None:
    """Hold a snapshot against the rules: its rows, its ranges, their bounds and their names."""
    expected = tree_model.cut(rows, snapshots.cuts)
    ranges = list(snapshots.files.metarange(found))
    assert [each.id for each in ranges] == [tree_model.file_id(part) for part in expected]
    for each, part in zip(ranges, expected, strict=True):
        assert (each.min_key, each.max_key) == (part[0][0], part[-1][0])
        assert (each.count, each.raw_size) == (len(part), sum(len(b"".join(row)) for row in part))
        assert list(snapshots.files.range_once(each.id).records()) == part
    named = [each.row() for each in ranges]
    assert found == (tree_model.file_id(named) if named else "")
    assert content(snapshots, found) == rows
    assert snapshots.verify(found) == len(rows)


@examples(25)
@given(trees, cuts)
def test_rel_D4_a_snapshot_is_cut_and_named_by_its_records_alone(rows: Rows, rule: Cuts) -> None:
    with open_snapshots(cuts=rule) as snapshots:
        check(snapshots, build(snapshots, rows), rows)


@examples(40)
@given(trees, changes, places, cuts)
def test_apply_equals_a_dictionary(base: Rows, some: Rows, stops: list[int], rule: Cuts) -> None:
    with open_snapshots(cuts=rule) as snapshots:
        result = snapshots.apply(build(snapshots, base), in_chunks(some, stops))
        expected = applied(base, some)
        check(snapshots, result.id, expected)
        assert result.changed == len(differing(base, expected))
        assert result.ranges_reused + result.ranges_written == len(range_ids(snapshots, result.id))


@examples(40)
@given(trees, changes, places, cuts, st.integers(1, 3))
def test_who_breathes_writes_what_others_do(
    base: Rows, some: Rows, stops: list[int], rule: Cuts, stretch: int
) -> None:
    base = {key: (identity, 90 * value) for key, (identity, value) in base.items()}
    with pytest.MonkeyPatch.context() as patch, open_snapshots(cuts=rule) as snapshots:
        patch.setattr("lochan.sstable.reader.STRETCH_BLOCKS", stretch)
        patch.setattr("lochan.committed.apply.STRETCH_ROWS", stretch)
        start = build(snapshots, base)
        breathed = snapshots.apply(start, in_chunks(some, stops), breathe=lambda: None)
        assert breathed == snapshots.apply(start, in_chunks(some, stops))


@examples(25)
@given(st.lists(st.tuples(changes, places), max_size=5), cuts)
def test_rel_D4_the_way_to_the_same_records_does_not_matter(
    steps: list[tuple[Rows, list[int]]], rule: Cuts
) -> None:
    with open_snapshots(cuts=rule) as snapshots:
        rows, found = dict[bytes, tuple[bytes, bytes]](), MetaRangeId("")
        for some, stops in steps:
            rows = applied(rows, some)
            found = snapshots.apply(found, in_chunks(some, stops)).id
        assert found == build(snapshots, rows)


@examples(25)
@given(trees, st.sets(keys, max_size=20), cuts)
def test_changes_that_say_what_is_there_already_change_nothing(
    rows: Rows, some: set[bytes], rule: Cuts
) -> None:
    with open_snapshots(cuts=rule) as snapshots:
        found = build(snapshots, rows)
        repeated = {key: (rows.get(key, (b"",))[0], b"written again") for key in some}
        result = snapshots.apply(found, in_chunks(repeated, []))
        assert (result.id, result.changed, result.ranges_written) == (found, 0, 0)


@examples(25)
@given(trees, changes, cuts)
def test_apply_opens_and_writes_what_the_changes_touch_and_nothing_else(
    base: Rows, some: Rows, rule: Cuts
) -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects, rule, memory_bytes=0) as snapshots:
        start = build(snapshots, base)
        ranges = list(snapshots.files.metarange(start))
        watched.forget()
        result = snapshots.apply(start, in_chunks(some, []))
        read, written = set(watched.read), list(watched.written)
        before, after = {each.id for each in ranges}, set(range_ids(snapshots, result.id))
        # A change falls to the first range that ends at its key or behind it.
        touched = {next((each.id for each in ranges if each.max_key >= key), "") for key in some}
        assert read == ({start} | touched | (before - after)) - {""}
        assert len(written) == result.ranges_written + bool(result.id)
        assert after - before <= set(written) <= (after - before) | touched | {result.id}


@pytest.mark.parametrize("strategy", STRATEGIES)
@examples(25)
@given(trees, changes, changes, cuts)
def test_merge_equals_a_dictionary(
    strategy: str, base: Rows, ours: Rows, theirs: Rows, rule: Cuts
) -> None:
    dest, source = applied(base, ours), applied(base, theirs)
    identities, conflicts = tree_model.merged(base, dest, source, strategy)
    with open_snapshots(cuts=rule) as snapshots:
        start, left, right = (build(snapshots, rows) for rows in (base, dest, source))
        result = snapshots.merge(start, left, right, strategy)
        assert [conflict.key for conflict in result.conflicts] == conflicts
        assert result.conflict_count == len(conflicts)
        if conflicts and not strategy:
            assert result.id is None
            return
        assert result.id is not None
        # Under one identity either side's data may stand; whatever does, the ranges follow from it.
        rows = content(snapshots, result.id)
        assert {key: identity for key, (identity, _) in rows.items()} == identities
        assert all(row in (side.get(key) for side in (dest, source)) for key, row in rows.items())
        check(snapshots, result.id, rows)
        assert result.ranges_reused + result.ranges_written == len(range_ids(snapshots, result.id))


@examples(15)
@given(trees, changes, changes)
def test_merge_describes_each_conflict_from_three_sides(
    base: Rows, ours: Rows, theirs: Rows
) -> None:
    dest, source = applied(base, ours), applied(base, theirs)
    with open_snapshots() as snapshots:
        sides = [build(snapshots, rows) for rows in (base, dest, source)]
        for conflict in snapshots.merge(*sides).conflicts:
            told = (conflict.base, conflict.dest, conflict.source)
            for value, rows in zip(told, (base, dest, source), strict=True):
                held = rows.get(conflict.key)
                assert ((value.identity, value.data) if value else None) == held


@examples(25)
@given(trees, changes, changes, cuts)
def test_merge_does_not_open_what_all_sides_share(
    base: Rows, ours: Rows, theirs: Rows, rule: Cuts
) -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects, rule, memory_bytes=0) as snapshots:
        trees = (base, applied(base, ours), applied(base, theirs))
        start, left, right = (build(snapshots, rows) for rows in trees)
        watched.forget()
        result = snapshots.merge(start, left, right, "source-wins")
        read = set(watched.read)
        assert result.id is not None
        shared = set.intersection(
            *(set(range_ids(snapshots, each)) for each in (start, left, right, result.id))
        )
        assert not shared & read


@examples(15)
@given(trees, changes, changes)
def test_a_merge_without_a_common_change_is_the_same_both_ways(
    base: Rows, ours: Rows, theirs: Rows
) -> None:
    apart = {key: row for key, row in theirs.items() if key not in ours}
    dest, source = applied(base, ours), applied(base, apart)
    with open_snapshots() as snapshots:
        start, left, right = (build(snapshots, rows) for rows in (base, dest, source))
        forth, back = snapshots.merge(start, left, right), snapshots.merge(start, right, left)
        assert forth.id == back.id == build(snapshots, applied(dest, apart))


@examples(25)
@given(st.lists(st.tuples(keys, st.sampled_from([b"", b"1", b"2"])), max_size=12), trees)
def test_changes_out_of_order_are_refused_not_lost(
    listed: list[tuple[bytes, bytes]], base: Rows
) -> None:
    given_keys = [key for key, _ in listed]
    with open_snapshots() as snapshots:
        start = build(snapshots, base)
        unsorted = Records.of((key, identity, b"") for key, identity in listed)
        if given_keys == sorted(set(given_keys)):
            rows = {key: (identity, b"") for key, identity in listed}
            assert content(snapshots, snapshots.apply(start, [unsorted]).id) == applied(base, rows)
            return
        with pytest.raises(InvalidInput, match="sort"):
            snapshots.apply(start, [unsorted])
