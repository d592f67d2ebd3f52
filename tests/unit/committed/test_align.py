# SPDX-License-Identifier: Apache-2.0
"""Segments: the ranges of several metaranges, cut where no range of any crosses."""

from hypothesis import given
from hypothesis import strategies as st

from lochan.committed.align import Segment, aligned
from lochan.committed.metarange import NOTHING, MetaRange
from lochan.committed.range import Range
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId, RangeId

NAME = MetaRangeId("ab" * 32)


def metarange(*spans: str) -> MetaRange:
    """Make a metarange of ranges given by their first and last key: "a-c"."""
    ranges = [
        Range(RangeId("ab" * 32), first.encode(), last.encode(), 1, 1)
        for first, last in (span.split("-") for span in spans)
    ]
    return MetaRange(NAME, Records.of(each.row() for each in ranges))


def spans(segment: Segment) -> tuple[list[str], ...]:
    return tuple(
        [f"{each.min_key.decode()}-{each.max_key.decode()}" for each in side] for side in segment
    )


def test_the_picture_of_the_module_is_true() -> None:
    base = metarange("a-c", "d-f", "q-r")
    dest = metarange("a-c", "d-g", "q-r")
    source = metarange("a-b", "c-d", "e-f", "i-k", "q-r")
    assert [spans(segment) for segment in aligned(base, dest, source)] == [
        (["a-c", "d-f"], ["a-c", "d-g"], ["a-b", "c-d", "e-f"]),
        ([], [], ["i-k"]),
        (["q-r"], ["q-r"], ["q-r"]),
    ]


def test_a_range_may_reach_over_several_of_a_side_looked_at_before() -> None:
    first, second = metarange("a-b", "d-e", "f-g", "x-z"), metarange("b-c", "c0-g", "h-i")
    assert [spans(segment) for segment in aligned(first, second)] == [
        (["a-b"], ["b-c"]),
        (["d-e", "f-g"], ["c0-g"]),
        ([], ["h-i"]),
        (["x-z"], []),
    ]


def test_nothing_has_no_segments() -> None:
    assert list(aligned(NOTHING, NOTHING, NOTHING)) == []


letters = st.lists(st.sampled_from("abcdefghijklmnop"), unique=True, max_size=12).map(sorted)


@given(st.lists(letters, min_size=1, max_size=3))
def test_segments_hold_everything_once_and_do_not_overlap(sides: list[list[str]]) -> None:
    every = [
        metarange(*(f"{first}-{last}" for first, last in zip(side[::2], side[1::2], strict=False)))
        for side in sides
    ]
    segments = list(aligned(*every))
    for number, side in enumerate(every):
        assert [each for segment in segments for each in segment[number]] == list(side)
    behind = b""
    for segment in segments:
        ranges = [each for side in segment for each in side]
        assert ranges
        assert min(each.min_key for each in ranges) > behind
        behind = max(each.max_key for each in ranges)
