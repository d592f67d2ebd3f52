# SPDX-License-Identifier: Apache-2.0
"""Parts of one snapshot in the place of another's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed.interval import Interval
from lochan.errors import InvalidInput
from support.record_strategies import Rows
from support.trees import Watched, build, content, memory_objects, numbered, open_snapshots

rows = st.dictionaries(
    st.integers(0, 60).map(lambda number: b"k%02d" % number),
    st.tuples(st.sampled_from([b"1", b"2"]), st.binary(max_size=12)),
    max_size=40,
)
borders = st.lists(
    st.integers(0, 61).map(lambda number: b"k%02d" % number), max_size=6, unique=True
)


def intervals(places: list[bytes], *, is_open: bool) -> list[Interval]:
    ends = sorted(places)
    pairs = [Interval(*pair) for pair in zip(ends[::2], ends[1::2], strict=False)]
    return [*pairs, Interval(ends[-1], None)] if is_open and len(ends) % 2 else pairs


@settings(max_examples=60, deadline=None)
@given(rows, rows, borders, st.booleans())
def test_inside_is_the_source_and_outside_the_base(
    base: Rows,
    source: Rows,
    places: list[bytes],
    is_open: bool,  # noqa: FBT001 - drawn
) -> None:
    within = intervals(places, is_open=is_open)

    def is_inside(key: bytes) -> bool:
        return any(part.start <= key and (part.stop is None or key < part.stop) for part in within)

    wanted = {key: row for key, row in base.items() if not is_inside(key)}
    wanted |= {key: row for key, row in source.items() if is_inside(key)}
    with open_snapshots() as snapshots:
        trees = build(snapshots, base), build(snapshots, source)
        made = snapshots.replace(*trees, within)
        assert content(snapshots, made) == dict(sorted(wanted.items()))
        assert made == build(snapshots, wanted)


def test_ranges_away_from_the_borders_are_not_opened() -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects, memory_bytes=0) as snapshots:
        base, source = build(snapshots, numbered(300)), build(snapshots, numbered(300, b"2"))
        watched.read.clear()
        snapshots.replace(base, source, [Interval(b"k100", b"k200")])
        ranges = len(snapshots.files.metarange(base))
        assert len(set(watched.read)) < 12 < ranges


def test_intervals_out_of_order_are_refused() -> None:
    with open_snapshots() as snapshots:
        base = build(snapshots, numbered(9))
        for within in (
            [Interval(b"b", b"c"), Interval(b"a", b"b")],
            [Interval(b"b"), Interval(b"c")],
        ):
            with pytest.raises(InvalidInput, match="not behind"):
                snapshots.replace(base, base, within)
