# SPDX-License-Identifier: Apache-2.0
"""List with a delimiter over ten million objects of which a million are staged to be deleted.

Scattered: every tenth object is deleted, so that every page looks past some of them. In one place:
everything under one prefix is deleted, and it comes before all that the page can show; such a
branch is compacted. The yardstick is the same page of a branch on which nothing is staged.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace

import msgspec
import numpy as np

from ground import MAIN, Ground, new_ground, stage_rows
from lake_data import keys
from lakes import open_lake
from lochan.committed import Snapshots
from lochan.committed.listing import Prefix
from lochan.kernel.records import Record, Records
from lochan.model.ids import BranchName, MetaRangeId
from lochan.model.instant import EPOCH
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.branches import create_branch
from lochan.operations.compact import compact
from lochan.operations.lake import Storage
from lochan.operations.list_objects import ListingPage, list_objects
from lochan.operations.request import Candidate, Said
from measure import Row, Timing, best, chosen

COUNT = chosen(10_000_000, small=20_000)
DELETED = COUNT // 10
CHUNK_ROWS = 20_000
TARGET = 3.0
SHORT_S = 0.2
DAYS = b"warehouse/events/"  # holds a folder a day
DAY = b"warehouse/events/day=00000/"  # holds objects
ARCHIVE = b"warehouse/events/archive/"  # comes before the days

PLAIN, SCATTERED, ARCHIVED = MAIN, BranchName("scattered"), BranchName("archived")


def main() -> list[Row]:
    """Measure on three branches of one lake."""
    snapshots, tree = open_lake(COUNT)
    with new_ground() as made, closing(snapshots):
        ground = _on_snapshots(made, snapshots)
        _publish(ground, PLAIN, tree)
        for branch in (SCATTERED, ARCHIVED):
            create_branch(ground.lake, ground.repository, branch, ground.head)
        return [*_scattered(ground), *_in_one_place(ground, snapshots, tree)]


def _scattered(ground: Ground) -> list[Row]:
    for numbers in _portions():
        tenth = np.array(numbers, dtype=np.uint64) * np.uint64(10)
        stage_rows(ground, _tombstones(keys(tenth)), SCATTERED)
    return [
        _row("of folders, tombstones scattered", ground, SCATTERED, DAYS, TARGET),
        _row("of objects, tombstones scattered", ground, SCATTERED, DAY, TARGET),
    ]


def _in_one_place(ground: Ground, snapshots: Snapshots, tree: MetaRangeId) -> list[Row]:
    _publish(ground, ARCHIVED, snapshots.apply(tree, _archive()).id)
    for chunk in _archive():
        stage_rows(ground, _tombstones(chunk.keys), ARCHIVED)
    before = _row("of folders, behind a deleted prefix", ground, ARCHIVED, DAYS, None)
    taken = best(lambda: compact(ground.lake, ground.repository, ARCHIVED), times=1)
    after = _row("the same, compacted", ground, ARCHIVED, DAYS, TARGET)
    figure = f"{taken.wall_s:.1f} s, {DELETED / taken.wall_s:,.0f} rows/s"
    what = f"compaction of {DELETED:,} tombstones"
    return [before, after, Row(what, figure, "", None, "report", None)]


def _on_snapshots(ground: Ground, snapshots: Snapshots) -> Ground:
    """Let the repository's trees be those of the lake that is kept."""
    found = ground.lake.storage(ground.repository.storage_namespace)
    storage = Storage(found.objects, found.addresses, snapshots)
    return replace(ground, lake=replace(ground.lake, storage=lambda _: storage))


def _publish(ground: Ground, branch: BranchName, tree: MetaRangeId) -> None:
    said = Said("bench", "a lake", {}, EPOCH)
    place = (ground.lake, ground.repository, branch)
    advance(*place, said, lambda _: Candidate(tree), action=Action.IMPORT)


def _archive() -> Iterator[Records]:
    """Make as many objects as are to be deleted, all under one prefix."""
    for numbers in _portions():
        yield Records.of((ARCHIVE + b"%09d" % n, b"%032d" % n, b"old") for n in numbers)


def _portions() -> Iterator[range]:
    starts = range(0, DELETED, CHUNK_ROWS)
    return (range(start, min(start + CHUNK_ROWS, DELETED)) for start in starts)


def _tombstones(wanted: Iterable[bytes]) -> Iterator[Record]:
    return (Record(key, b"", b"") for key in wanted)


def _row(what: str, ground: Ground, branch: BranchName, prefix: bytes, target: float | None) -> Row:
    plain, _ = _page(ground, PLAIN, prefix)
    ours, page = _page(ground, branch, prefix)
    ratio = ours.wall_s / plain.wall_s
    return Row(
        f"first page {what}",
        f"{ours.wall_s * 1e3:.1f} ms for {len(page.items):,} of {COUNT:,}",
        f"nothing staged {plain.wall_s * 1e3:.1f} ms",
        ratio,
        f"<= {target:g}x" if target else "report",
        ratio <= target if target else None,
    )


def _page(ground: Ground, branch: BranchName, prefix: bytes) -> tuple[Timing, ListingPage]:
    place, pages = (ground.lake, ground.repository, branch), list[ListingPage]()

    def read() -> None:
        pages.append(list_objects(*place, prefix, delimiter=b"/"))

    timing = best(read)
    if timing.wall_s < SHORT_S:  # a page so short is easily disturbed
        timing = best(read, times=20)
    assert pages[0].items, "there is something to list"
    assert Prefix(ARCHIVE) not in pages[0].items, "the archive is deleted"
    return timing, pages[0]


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
