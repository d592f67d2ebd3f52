# SPDX-License-Identifier: Apache-2.0
"""Merges: who wins, what is listed, and what is not even opened."""

import pytest

from lochan.committed.merge import CONFLICTS_LISTED
from lochan.errors import InvalidInput
from lochan.model.ids import EMPTY_TREE, RangeId
from lochan.model.records import ValueRecord
from support.record_strategies import Rows
from support.tree_model import applied, is_hash_cut
from support.trees import (
    SMALL,
    Watched,
    build,
    content,
    memory_objects,
    numbered,
    open_snapshots,
    range_ids,
)

BASE = numbered(30)
OURS: Rows = {b"k003": (b"2", b"ours"), b"k020": (b"", b"")}
THEIRS: Rows = {b"k003": (b"3", b"theirs"), b"k020": (b"4", b"kept"), b"k027": (b"5", b"new")}


def test_a_conflict_is_reported_with_all_three_sides() -> None:
    with open_snapshots() as snapshots:
        sides = [build(snapshots, applied(BASE, each)) for each in ({}, OURS, THEIRS)]
        result = snapshots.merge(*sides)
        first, second = result.conflicts
        assert (result.id, result.conflict_count) == (None, 2)
        assert (first.key, second.key) == (b"k003", b"k020")
        assert first.dest == ValueRecord(identity=b"2", data=b"ours")
        assert first.source == ValueRecord(identity=b"3", data=b"theirs")
        assert second.base == ValueRecord(identity=b"1", data=b"value 20")
        assert second.dest is None


@pytest.mark.parametrize(
    ("strategy", "third", "twentieth"),
    [("dest-wins", b"2", b""), ("source-wins", b"3", b"4")],
)
def test_a_strategy_settles_conflicts_and_nothing_else(
    strategy: str, third: bytes, twentieth: bytes
) -> None:
    with open_snapshots() as snapshots:
        base, dest, source = (build(snapshots, applied(BASE, each)) for each in ({}, OURS, THEIRS))
        result = snapshots.merge(base, dest, source, strategy)
        assert result.id is not None
        rows = content(snapshots, result.id)
        found = [rows.get(key, (b"",))[0] for key in (b"k003", b"k020", b"k027", b"k028")]
        assert found == [third, twentieth, b"5", b"1"]
        assert result.conflict_count == len(result.conflicts) == 2


def test_all_conflicts_are_counted_and_the_first_ones_described() -> None:
    base, dest, source = (
        numbered(CONFLICTS_LISTED + 30, identity) for identity in (b"1", b"2", b"3")
    )
    with open_snapshots() as snapshots:
        result = snapshots.merge(*(build(snapshots, rows) for rows in (base, dest, source)))
        assert result.conflict_count == CONFLICTS_LISTED + 30
        assert [each.key for each in result.conflicts] == sorted(base)[:CONFLICTS_LISTED]


def test_a_merge_with_conflicts_stores_no_metarange() -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects) as snapshots:
        sides = [build(snapshots, applied(BASE, each)) for each in ({}, OURS, THEIRS)]
        watched.forget()
        assert snapshots.merge(*sides).id is None
        written = [snapshots.files.range_once(RangeId(name)) for name in watched.written]
        kinds = {table.properties["type"] for table in written}
        assert kinds <= {b"ranges"}


def test_where_one_side_is_the_base_no_range_is_opened() -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects) as snapshots:
        base, other = build(snapshots, BASE), build(snapshots, applied(BASE, THEIRS))
        for sides in (
            (base, other, base),
            (base, base, other),
            (base, other, other),
            (EMPTY_TREE, other, EMPTY_TREE),
        ):
            list(map(snapshots.files.metarange, sides))
            watched.forget()
            result = snapshots.merge(*sides)
            assert (result.id, watched.read, watched.written) == (other, [], [])
            assert result.ranges_reused == len(range_ids(snapshots, other))


def test_ranges_that_one_side_changed_or_both_alike_are_not_opened() -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects) as snapshots:
        base = build(snapshots, BASE)
        ranges = list(snapshots.files.metarange(base))
        alike, one, other = ({ranges[number].min_key: (b"2", b"")} for number in (1, 2, -2))
        ours, theirs = {**alike, **one}, {**alike, **other}
        sides = [base, *(build(snapshots, applied(BASE, each)) for each in (ours, theirs))]
        list(map(snapshots.files.metarange, sides))
        watched.forget()
        result = snapshots.merge(*sides)
        assert result.id is not None
        assert (watched.read, watched.written) == ([], [result.id])
        assert content(snapshots, result.id) == applied(BASE, {**ours, **theirs})


def test_a_range_that_lost_its_cut_is_joined_with_what_the_other_side_added_behind_it() -> None:
    last = next(key for key in sorted(BASE)[20:] if is_hash_cut(key, SMALL))
    base = {key: row for key, row in BASE.items() if key <= last}
    ours, theirs = {last: (b"", b"")}, {b"z1": (b"1", b""), b"z2": (b"1", b"")}
    with open_snapshots() as snapshots:
        sides = [build(snapshots, applied(base, each)) for each in ({}, ours, theirs)]
        expected = build(snapshots, applied(base, {**ours, **theirs}))
        assert snapshots.merge(*sides).id == expected
        assert snapshots.merge(sides[0], sides[2], sides[1]).id == expected


def test_an_unknown_strategy_is_refused() -> None:
    with open_snapshots() as snapshots, pytest.raises(InvalidInput, match="no merge strategy"):
        snapshots.merge(EMPTY_TREE, EMPTY_TREE, EMPTY_TREE, "ours")
