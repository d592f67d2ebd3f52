# SPDX-License-Identifier: Apache-2.0
"""The cut rule by example, and how files tell which cut ended them."""

import pytest

from lochan.committed import Cuts, Snapshots
from lochan.errors import InvalidInput
from lochan.model.ids import MetaRangeId
from support.record_strategies import Rows
from support.tree_model import applied, is_hash_cut
from support.trees import build, in_chunks, open_snapshots, range_ids

ROWS: Rows = {b"key %d" % number: (b"i", b"v" * 4) for number in range(10)}
HASHED = [key for key in ROWS if is_hash_cut(key, Cuts(4))]


def ends(snapshots: Snapshots, found: MetaRangeId) -> list[tuple[bytes, bytes]]:
    """Give the last key of each range and the cut that its file names."""
    return [
        (each.max_key, snapshots.files.range_once(each.id).properties["lochan.cut"])
        for each in snapshots.files.metarange(found)
    ]


def test_a_range_ends_behind_a_key_whose_hash_says_so() -> None:
    with open_snapshots(cuts=Cuts(4)) as snapshots:
        found = build(snapshots, ROWS)
        assert ends(snapshots, found) == [*((key, b"hash") for key in HASHED), (b"key 9", b"end")]
    assert 1 < len(HASHED) < 9


def test_a_range_ends_where_its_raw_size_reaches_the_cap() -> None:
    # A row of ROWS has 5 + 1 + 4 bytes: the third one reaches 30 and, from there, the sixth.
    with open_snapshots(cuts=Cuts(1 << 40, cap_bytes=30)) as snapshots:
        found = build(snapshots, ROWS)
        assert ends(snapshots, found) == [
            (b"key 2", b"size"),
            (b"key 5", b"size"),
            (b"key 8", b"size"),
            (b"key 9", b"end"),
        ]


def test_a_snapshot_whose_last_record_is_a_cut_has_no_open_end() -> None:
    rows = {key: row for key, row in ROWS.items() if key <= HASHED[-1]}
    with open_snapshots(cuts=Cuts(4)) as snapshots:
        assert ends(snapshots, build(snapshots, rows))[-1] == (HASHED[-1], b"hash")


def test_what_is_added_behind_an_open_end_joins_it() -> None:
    with open_snapshots(cuts=Cuts(1 << 40)) as snapshots:
        found = build(snapshots, ROWS)
        more = {b"z": (b"i", b"")}
        result = snapshots.apply(found, in_chunks(more, []))
        assert (result.ranges_reused, result.ranges_written) == (0, 1)
        assert ends(snapshots, result.id) == [(b"z", b"end")]


def test_a_removed_size_cut_moves_the_following_ones_up_to_a_hash_cut() -> None:
    rows = {b"key %02d" % number: (b"i", b"v" * 3) for number in range(60)}
    cuts = Cuts(25, cap_bytes=30)
    stop = next(key for key in sorted(rows) if is_hash_cut(key, cuts))
    with open_snapshots(cuts=cuts) as snapshots:
        before = build(snapshots, rows)
        result = snapshots.apply(before, in_chunks({b"key 00": (b"", b"")}, []))
        assert result.id == build(snapshots, applied(rows, {b"key 00": (b"", b"")}))
        behind = [each.id for each in snapshots.files.metarange(before) if each.min_key > stop]
        assert range_ids(snapshots, result.id)[-len(behind) :] == behind
        assert result.ranges_reused == len(behind) > 3


@pytest.mark.parametrize("wrong", [(0, 100), (-1, 100), (10, 0)])
def test_a_rule_that_makes_no_sense_is_refused(wrong: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        Cuts(*wrong)
