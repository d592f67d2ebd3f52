# SPDX-License-Identifier: Apache-2.0
"""Cursors: what they read, deeper trees, and that a failed step may be repeated."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.committed import Snapshots
from lochan.committed.cursor import Cursor
from lochan.errors import Corruption, Unavailable
from lochan.faults import Fault
from lochan.kernel.records import Record
from lochan.model.ids import MetaRangeId
from lochan.objects.faulty import Call, Faulty
from support.hand_made import as_range, put_metarange
from support.record_strategies import Rows
from support.tree_strategies import examples, keys, trees
from support.trees import ENVIRONMENT, build, memory_objects, numbered, open_snapshots

ROWS = numbered(60)


def deepened(snapshots: Snapshots, flat: MetaRangeId, width: int) -> MetaRangeId:
    """Put a metarange of metaranges, each of `width` ranges, over the ranges of a flat one."""
    ranges = list(snapshots.files.metarange(flat))
    groups = [ranges[start : start + width] for start in range(0, len(ranges), width)]
    inner = [put_metarange(snapshots.files, group) for group in groups]
    return put_metarange(snapshots.files, [as_range(snapshots.files, each) for each in inner])


@examples(15)
@given(trees.filter(bool), st.integers(1, 4), st.lists(keys, max_size=5))
def test_a_deeper_tree_reads_like_the_flat_one(rows: Rows, width: int, places: list[bytes]) -> None:
    with open_snapshots() as snapshots:
        found = build(snapshots, rows)
        flat, deep = (
            snapshots.cursor(found),
            Cursor(snapshots.files, deepened(snapshots, found, width), depth=3),
        )
        assert list(deep) == list(flat)
        for place in places:
            flat.seek(place)
            deep.seek(place)
            assert deep.range == flat.range
            assert deep.next() == flat.next()
            assert deep.next_range() == flat.next_range()
            assert list(deep) == list(flat)


def test_a_fourth_level_works_as_well() -> None:
    with open_snapshots() as snapshots:
        third = deepened(snapshots, build(snapshots, ROWS), 3)
        fourth = deepened(snapshots, third, 2)
        cursor = Cursor(snapshots.files, fourth, depth=4)
        cursor.seek(b"k030")
        assert [record.key for record in cursor] == [key for key in sorted(ROWS) if key >= b"k030"]


def test_a_cursor_opens_one_range_for_one_record() -> None:
    with open_snapshots() as snapshots:
        cursor = snapshots.cursor(build(snapshots, ROWS))
        opened = snapshots.files.opened
        cursor.seek(b"k030")
        assert cursor.next() == Record(b"k030", *ROWS[b"k030"])
        assert snapshots.files.opened == opened + 1


def test_skipping_ranges_opens_none() -> None:
    with open_snapshots() as snapshots:
        cursor = snapshots.cursor(build(snapshots, ROWS))
        opened = snapshots.files.opened
        ranges = [cursor.range]
        while cursor.next_range():
            ranges.append(cursor.range)
        assert ranges == list(snapshots.files.metarange(build(snapshots, ROWS)))
        assert snapshots.files.opened == opened
        assert cursor.next() is None
        assert cursor.next_range() is None


class Outage:
    """A store whose reads fail while `on`."""

    def __init__(self) -> None:
        self.on = False
        self.objects = Faulty(memory_objects(), self._plan, ENVIRONMENT)

    def _plan(self, call: Call) -> Fault:
        return Fault.ERROR if self.on and call.operation.startswith("get") else Fault.OK


@pytest.mark.parametrize("depth", [2, 3])
def test_a_step_that_failed_may_be_repeated(depth: int) -> None:
    outage = Outage()
    with open_snapshots(outage.objects, memory_bytes=0) as snapshots:
        found = build(snapshots, ROWS)
        found = found if depth == 2 else deepened(snapshots, found, 2)
        cursor, read = Cursor(snapshots.files, found, depth), list[bytes]()
        while True:
            outage.on = not outage.on
            try:
                record = cursor.next()
            except Unavailable:
                continue
            if record is None:
                break
            read.append(record.key)
        assert read == sorted(ROWS)


@pytest.mark.parametrize("depth", [2, 3])
def test_a_range_that_could_not_be_reached_is_not_the_end(depth: int) -> None:
    outage = Outage()
    with open_snapshots(outage.objects, memory_bytes=0) as snapshots:
        flat = build(snapshots, ROWS)
        found = flat if depth == 2 else deepened(snapshots, flat, 2)
        cursor, ranges = Cursor(snapshots.files, found, depth), list[object]()
        ranges.append(cursor.range)
        while True:
            outage.on = not outage.on
            try:
                reached = cursor.next_range()
            except Unavailable:
                continue
            if reached is None:
                break
            ranges.append(reached)
        outage.on = False
        assert ranges == list(snapshots.files.metarange(flat))


def test_a_seek_that_failed_leaves_the_cursor_where_it_was() -> None:
    outage = Outage()
    with open_snapshots(outage.objects, memory_bytes=0) as snapshots:
        cursor = snapshots.cursor(build(snapshots, ROWS))
        before = [cursor.next() for _ in range(5)]
        outage.on = True
        for place in (b"k030", b"", b"zzz"):
            with pytest.raises(Unavailable):
                cursor.seek(place)
        outage.on = False
        assert [record.key for record in [*before, *cursor] if record] == sorted(ROWS)


def test_rel_D2_an_overlap_of_ranges_is_told_every_time() -> None:
    with open_snapshots() as snapshots:
        first, second, *rest = snapshots.files.metarange(build(snapshots, ROWS))
        overlapping = msgspec.structs.replace(second, min_key=first.max_key)
        found = put_metarange(snapshots.files, [first, overlapping, *rest])
        cursor = snapshots.cursor(found)
        assert [cursor.next() for _ in range(first.count)][-1]
        for _ in range(3):
            with pytest.raises(Corruption, match=f"^{found} .* overlaps the one before it"):
                cursor.next()
