# SPDX-License-Identifier: Apache-2.0
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.committed.interval import EVERYTHING, Interval, after_prefix
from support.record_strategies import Rows, to_records
from support.tree_strategies import keys, trees

bounds = st.one_of(st.none(), keys)


@settings(max_examples=40, deadline=None)
@given(trees, keys, bounds)
def test_clip_keeps_the_rows_inside(rows: Rows, start: bytes, stop: bytes | None) -> None:
    inside = [key for key in sorted(rows) if start <= key and (stop is None or key < stop)]
    assert list(Interval(start, stop).clip(to_records(rows)).keys) == inside
    assert list(EVERYTHING.clip(to_records(rows)).keys) == sorted(rows)


@settings(max_examples=40, deadline=None)
@given(trees.filter(bool), keys, bounds)
def test_what_does_not_meet_holds_nothing(rows: Rows, start: bytes, stop: bytes | None) -> None:
    within = Interval(start, stop)
    if len(within.clip(to_records(rows))):
        assert within.meets(min(rows), max(rows))


@given(keys, st.binary(max_size=3))
def test_under_a_prefix_are_the_keys_that_begin_with_it(prefix: bytes, rest: bytes) -> None:
    within = Interval.under(prefix)
    for key in (prefix + rest, rest, prefix[:-1] + rest):
        inside = within.start <= key and (within.stop is None or key < within.stop)
        assert inside == key.startswith(prefix)


def test_behind_a_prefix_of_the_largest_bytes_there_is_nothing() -> None:
    assert after_prefix(b"") is None
    assert after_prefix(b"\xff\xff") is None
    assert after_prefix(b"a\xff\xff") == b"b"
    assert after_prefix(b"a/") == b"a0"


def test_an_interval_ends_before_its_stop() -> None:
    within = Interval(b"b", b"d")
    for inside in ((b"a", b"b"), (b"c", b"c"), (b"c", b"z")):
        assert within.meets(*inside)
    for outside in ((b"a", b"a"), (b"d", b"e")):
        assert not within.meets(*outside)
