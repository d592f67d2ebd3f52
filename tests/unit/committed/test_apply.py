# SPDX-License-Identifier: Apache-2.0
"""Commits at the default cuts: what a change of one key costs among many."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from lochan.committed import Cuts, Snapshots
from lochan.errors import InvalidInput
from lochan.kernel.interface import STRETCH_ROWS
from lochan.kernel.records import EMPTY, Records
from lochan.model.ids import EMPTY_TREE
from support.generated_rows import generated, in_pieces
from support.one_key import EXPECTED, costs
from support.trees import Watched, build, content, memory_objects, numbered, open_snapshots

RECORDS = 300_000


@pytest.fixture(scope="module")
def watched() -> Watched:
    return Watched(memory_objects())


@pytest.fixture(scope="module")
def snapshots(watched: Watched) -> Iterator[Snapshots]:
    with open_snapshots(watched.objects, Cuts(), memory_bytes=8 << 20) as opened:
        yield opened


def test_a_commit_of_one_key_rewrites_one_range_and_the_metarange(
    watched: Watched, snapshots: Snapshots
) -> None:
    base = snapshots.apply(EMPTY_TREE, in_pieces(RECORDS))
    ranges = list(snapshots.files.metarange(base.id))
    assert base.changed == sum(found.count for found in ranges) == RECORDS
    assert len(ranges) == base.ranges_written > 3
    assert all(left.max_key < right.min_key for left, right in pairwise(ranges))
    assert costs(watched, snapshots, base.id) == EXPECTED


def test_the_pieces_of_the_changes_do_not_matter(snapshots: Snapshots) -> None:
    at_once = snapshots.apply(EMPTY_TREE, [generated(0, RECORDS)])
    half = snapshots.apply(EMPTY_TREE, in_pieces(RECORDS // 2, 70_000))
    rest = snapshots.apply(half.id, [generated(RECORDS // 2, RECORDS)])
    assert rest.id == at_once.id
    assert rest.ranges_reused > 0


def test_who_breathes_writes_the_same_snapshot(snapshots: Snapshots) -> None:
    base = snapshots.apply(EMPTY_TREE, in_pieces(RECORDS)).id
    keys = generated(0, RECORDS).keys
    changes = [
        *((keys[row], b"new", b"value") for row in range(0, RECORDS, 3000)),
        *((keys[row], b"", b"") for row in range(1, RECORDS, 3000)),
        *((keys[row] + b"+", b"more", b"") for row in range(0, RECORDS, 5003)),
        (b"\xff", b"behind", b"all"),
    ]
    chunk = Records.of(sorted(changes))
    breaths = list[None]()
    breathed = snapshots.apply(base, [chunk], breathe=lambda: breaths.append(None))
    assert breathed == snapshots.apply(base, [chunk])
    assert breathed.changed == len(chunk)
    assert len(breaths) > RECORDS // 2_000


def test_a_range_that_stays_as_it_is_is_reused_by_who_breathes(snapshots: Snapshots) -> None:
    base = snapshots.apply(EMPTY_TREE, in_pieces(RECORDS))
    same = snapshots.apply(base.id, in_pieces(RECORDS), breathe=lambda: None)
    assert (same.id, same.changed, same.ranges_written) == (base.id, 0, 0)


@pytest.mark.parametrize("place", [b"a", b"k9", b"z"])
def test_many_changes_that_fall_to_few_rows_are_cut_as_well(place: bytes) -> None:
    rows = Records.of((place + b"%06d" % number, b"1", b"") for number in range(20_000))
    breaths = list[None]()
    with open_snapshots(cuts=Cuts()) as opened:
        base = build(opened, numbered(20))
        found = opened.apply(base, [rows], breathe=lambda: breaths.append(None))
        assert found == opened.apply(base, [rows])
        assert found.changed == len(rows)
    joined_written_named = 3  # and overlaid
    assert len(breaths) > joined_written_named * (len(rows) // STRETCH_ROWS)


def test_a_breath_that_fails_ends_it_and_nothing_is_written_afterwards() -> None:
    watched, left = Watched(memory_objects()), iter(range(20))

    def breathe() -> None:
        if next(left, None) is None:
            raise InterruptedError

    with open_snapshots(watched.objects, Cuts(5_000, 1 << 30)) as opened:
        with pytest.raises(InterruptedError):
            opened.apply(EMPTY_TREE, in_pieces(30_000), breathe=breathe)
        written = list(watched.written)
        assert len(written) > 0
    assert watched.written == written


@pytest.mark.parametrize("breathe", [None, lambda: None])
def test_changes_that_are_not_sorted_across_chunks_are_refused(
    breathe: Callable[[], None] | None,
) -> None:
    with open_snapshots() as small:
        base = build(small, numbered(20))
        for keys in ([b"k005", b"k004"], [b"k005", b"k005"], [b"z2", b"z1"], [b"z", b"z"]):
            chunks = [Records.of([(key, b"2", b"")]) for key in keys]
            with pytest.raises(InvalidInput, match="sort the changes first"):
                small.apply(base, chunks, breathe=breathe)


def test_a_large_snapshot_is_written_while_its_records_still_come() -> None:
    watched, written = Watched(memory_objects()), list[int]()

    def chunks() -> Iterator[Records]:
        for number in range(100):
            written.append(len(watched.written))
            yield Records.of([(b"k%03d" % number, b"1", b"v" * 200)])

    with open_snapshots(watched.objects) as small:
        small.apply(EMPTY_TREE, chunks())
    assert written[50] > 20


def test_no_changes_give_the_same_snapshot() -> None:
    with open_snapshots() as small:
        base = build(small, numbered(20))
        for nothing in ([], [EMPTY], [EMPTY, EMPTY]):
            assert small.apply(base, nothing).id == base
            assert small.apply(EMPTY_TREE, nothing).id == EMPTY_TREE


def test_removing_everything_gives_the_empty_snapshot_without_a_file() -> None:
    watched = Watched(memory_objects())
    with open_snapshots(watched.objects) as small:
        base = build(small, numbered(20))
        watched.forget()
        result = small.apply(base, [Records.of((key, b"", b"") for key in numbered(20))])
        assert (result.id, result.changed) == (EMPTY_TREE, 20)
        assert (result.ranges_reused, result.ranges_written, watched.written) == (0, 0, [])
        assert content(small, result.id) == {}
