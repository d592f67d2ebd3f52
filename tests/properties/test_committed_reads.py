# SPDX-License-Identifier: Apache-2.0
"""Diff, look-ups, cursors and listings equal a dictionary, and open no more than they must."""

from hypothesis import given
from hypothesis import strategies as st

from lochan.committed import Cuts, Snapshots
from lochan.committed.interval import Interval
from lochan.committed.listing import Prefix
from lochan.kernel.records import Column, Record
from lochan.model.changes import Change
from lochan.model.ids import MetaRangeId
from lochan.model.records import ValueRecord
from support.record_strategies import Rows, to_column
from support.tree_model import applied, cut, differing, listed
from support.tree_strategies import changes, cuts, examples, keys, trees
from support.trees import Watched, build, memory_objects, open_snapshots, range_ids

intervals = st.builds(Interval, keys, st.one_of(st.none(), keys))
delimiters = st.sampled_from([b"", b"/", b"a", b"//", b"\xff"])
prefixes = st.one_of(st.just(b""), keys.map(lambda key: key[:2]))


def all_changes(
    snapshots: Snapshots, left: MetaRangeId, right: MetaRangeId, within: Interval
) -> list[Change]:
    parts = list(snapshots.diff(left, right, within))
    assert all(map(len, parts))
    return [change for part in parts for change in part]


def value(row: tuple[bytes, bytes] | None) -> ValueRecord | None:
    return ValueRecord(identity=row[0], data=row[1]) if row else None


@examples(30)
@given(trees, changes, intervals, cuts)
def test_diff_equals_a_dictionary(base: Rows, some: Rows, within: Interval, rule: Cuts) -> None:
    other = applied(base, some)
    with open_snapshots(cuts=rule) as snapshots:
        left, right = build(snapshots, base), build(snapshots, other)
        everything = all_changes(snapshots, left, right, Interval())
        assert [(change.kind, change.key) for change in everything] == differing(base, other)
        for change in everything:
            assert change.left == value(base.get(change.key))
            assert change.right == value(other.get(change.key))
        stop = b"\xff" * 9 if within.stop is None else within.stop
        inside = [change for change in everything if within.start <= change.key < stop]
        assert all_changes(snapshots, left, right, within) == inside


@examples(15)
@given(trees, trees, cuts)
def test_diff_of_unrelated_snapshots_reads_backwards_too(
    left: Rows, right: Rows, rule: Cuts
) -> None:
    with open_snapshots(cuts=rule) as snapshots:
        one, other = build(snapshots, left), build(snapshots, right)
        for sides, rows in (((one, other), (left, right)), ((other, one), (right, left))):
            found = all_changes(snapshots, *sides, Interval())
            assert [(change.kind, change.key) for change in found] == differing(*rows)


@examples(25)
@given(trees, changes, intervals, cuts)
def test_rel_D3_diff_opens_the_ranges_that_differ_and_no_others(
    base: Rows, some: Rows, within: Interval, rule: Cuts
) -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects, rule, memory_bytes=0) as snapshots:
        left, right = build(snapshots, base), build(snapshots, applied(base, some))
        metaranges = [snapshots.files.metarange(each) for each in (left, right)]
        lefts, rights = (
            {each.id for each in side if within.meets(each.min_key, each.max_key)}
            for side in metaranges
        )
        watched.forget()
        list(snapshots.diff(left, right, within))
        assert set(watched.read) == ({left, right} | (lefts ^ rights)) - {""}


@examples(25)
@given(trees, st.lists(keys, max_size=30), cuts)
def test_look_ups_equal_a_dictionary(rows: Rows, asked: list[bytes], rule: Cuts) -> None:
    with open_snapshots(cuts=rule) as snapshots:
        found = build(snapshots, rows)
        # Present and absent keys, repeated and in no order.
        wanted = asked + list(rows)[::-2] + asked[:3]
        expected = [Record(key, *rows.get(key, (b"", b""))) for key in wanted]
        assert list(snapshots.get_many(found, wanted)) == expected
        assert list(snapshots.get_many(found, to_column(wanted))) == expected
        for record in expected:
            assert snapshots.get(found, record.key) == (record if record.identity else None)


@examples(30)
@given(trees, st.lists(keys, max_size=5), cuts)
def test_a_cursor_stands_where_it_was_sent(rows: Rows, places: list[bytes], rule: Cuts) -> None:
    records = [Record(key, *rows[key]) for key in sorted(rows)]
    with open_snapshots(cuts=rule) as snapshots:
        cursor = snapshots.cursor(build(snapshots, rows))
        assert list(cursor) == records
        assert cursor.next() is None
        for place in [*places, *sorted(rows)[:3]]:
            cursor.seek(place)
            assert list(cursor) == [record for record in records if record.key >= place]


@examples(25)
@given(trees, keys, st.integers(0, 6), cuts)
def test_a_cursor_skips_to_the_next_range(rows: Rows, place: bytes, taken: int, rule: Cuts) -> None:
    parts = cut(rows, rule)
    with open_snapshots(cuts=rule) as snapshots:
        cursor = snapshots.cursor(build(snapshots, rows))
        cursor.seek(place)
        current = sum(part[-1][0] < place for part in parts)
        left = [row for part in parts[current:] for row in part if row[0] >= place]
        for row in left[:taken]:
            assert cursor.next() == row
            current += row[0] > parts[current][-1][0]
        behind = parts[current + 1 :]
        reached = cursor.next_range()
        assert (reached and reached.min_key) == (behind[0][0][0] if behind else None)
        assert list(cursor) == [row for part in behind for row in part]


def shown(item: Record | Prefix) -> bytes:
    return item.prefix if isinstance(item, Prefix) else item.key


@examples(30)
@given(trees, prefixes, delimiters, keys, cuts)
def test_a_listing_equals_a_dictionary(
    rows: Rows, prefix: bytes, delimiter: bytes, after: bytes, rule: Cuts
) -> None:
    expected = listed(rows, prefix, delimiter)
    with open_snapshots(cuts=rule) as snapshots:
        found = build(snapshots, rows)
        items = list(snapshots.list(found, prefix, delimiter=delimiter))
        assert [shown(item) for item in items] == expected
        for item in items:
            folder = delimiter != b"" and item_ends(shown(item), prefix, delimiter)
            assert isinstance(item, Prefix) == folder
            assert folder or item == Record(shown(item), *rows[shown(item)])
        for place in [after, *expected]:
            rest = snapshots.list(found, prefix, after=place, delimiter=delimiter)
            behind = [item for item in expected if item > place or not place]
            assert [shown(item) for item in rest] == behind


def item_ends(item: bytes, prefix: bytes, delimiter: bytes) -> bool:
    return item.find(delimiter, len(prefix)) == len(item) - len(delimiter) >= len(prefix)


@examples(12)
@given(trees, cuts)
def test_a_listing_opens_no_range_that_it_hides(rows: Rows, rule: Cuts) -> None:
    hidden = {b"m/%03d" % number: (b"1", b"v" * 30) for number in range(60)}
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects, rule, memory_bytes=0) as snapshots:
        found = build(snapshots, rows | hidden)
        inside = [
            each.id
            for each in snapshots.files.metarange(found)
            if each.min_key > b"m/000" and each.max_key <= b"m/059"
        ]
        watched.forget()
        list(snapshots.list(found, delimiter=b"/"))
        assert not set(inside) & set(watched.read)


def test_a_column_of_keys_may_be_asked_for_from_an_empty_snapshot() -> None:
    with open_snapshots() as snapshots:
        empty = MetaRangeId("")
        assert list(snapshots.get_many(empty, Column.of([b"a"]))) == [Record(b"a", b"", b"")]
        assert len(snapshots.get_many(empty, [])) == 0
        assert snapshots.get(empty, b"a") is None
        assert list(snapshots.list(empty)) == list(snapshots.cursor(empty)) == []
        assert range_ids(snapshots, empty) == []
        assert snapshots.verify(empty) == 0
