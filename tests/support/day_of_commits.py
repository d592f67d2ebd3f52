# SPDX-License-Identifier: Apache-2.0
"""Seed 001's model of a day: 20 commits that change a share of the blocks, clustered by prefix.

The seed measured that 5 to 20 % of the blocks of a lake change in a day, and divides: at 20 commits
a day each changes 0.25 to 1 %, so that it reuses at least 99 %. Here a block is a range. A commit
takes neighbouring ranges that no other commit of the day takes, and changes some of the rows in
them: of ten changes eight overwrite, one adds and one removes. Where there are fewer blocks to
change than commits, each commit takes one, and some take the same.

A prefix need not begin where a range does. `AT_RANGES` takes whole ranges, as the seed counts them;
`ANYWHERE` takes as many neighbouring rows as so many ranges hold on the average, from any row of
the lake on, and these touch one range more. Removing the last key of the last range costs one more
as well.

Bytes are those of files: what was stored for the commit, over what a file of the changed rows alone
would take.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from math import ceil
from random import Random
from statistics import mean

from lochan.committed import Snapshots
from lochan.kernel.records import Record, Records
from lochan.model.ids import MetaRangeId
from lochan.objects.store import ObjectStore
from lochan.sstable import write_table
from support.trees import range_ids

COMMITS = 20


class Begin(StrEnum):
    """Where the rows of a commit begin."""

    AT_RANGES = "whole ranges"
    ANYWHERE = "any rows"


@dataclass(frozen=True, slots=True)
class Day:
    """How much of the lake changes: a share of the blocks, and of the rows in each of those."""

    share: float
    density: float
    begin: Begin = Begin.AT_RANGES

    @property
    def seed_reuse(self) -> float:
        """What the seed's division gives."""
        return 1 - self.share / COMMITS

    def least_reuse(self, ranges: int) -> float:
        """What must be reached on the average: the seed's figure, less what its division omits.

        A commit takes a range at least. One that begins inside a range takes one more, and one that
        removes the last boundary, as a tenth of the changes do. Twice as much is allowed, and a
        little: 20 commits are few, and ranges differ in size.
        """
        more = self.density / 5 + 0.1 + 2 * (self.begin is Begin.ANYWHERE)
        return 1 - max(self.share / COMMITS, 1 / ranges) - more / ranges


@dataclass(frozen=True, slots=True)
class Commit:
    """What one commit did to the files."""

    before: int  # ranges
    reused: int
    bytes_written: int
    bytes_changed: int

    @property
    def reuse(self) -> float:
        return self.reused / self.before


def run(objects: ObjectStore, snapshots: Snapshots, base: MetaRangeId, day: Day) -> list[Commit]:
    """Make the commits of a day, one on top of the other."""
    random = Random(str(day))
    commits = []
    for place, width in _places(snapshots, base, day, random):
        rows = list(_rows(snapshots, base, place, width, day.begin, random))
        changes = sorted(dict(_changes(rows, day.density, random)).values())
        result = snapshots.apply(base, [Records.of(changes)])
        before, after = (set(range_ids(snapshots, each)) for each in (base, result.id))
        stored = sum(objects.head(f"_lakefs/{name}").size for name in (after - before))
        stored += objects.head(f"_lakefs/{result.id}").size
        commits.append(Commit(len(before), result.ranges_reused, stored, _file_size(changes)))
        base = result.id
    return commits


def _places(
    snapshots: Snapshots, base: MetaRangeId, day: Day, random: Random
) -> list[tuple[bytes, int]]:
    """Choose for each commit where it begins, and how many ranges it takes."""
    ranges = list(snapshots.files.metarange(base))
    total = round(day.share * len(ranges))
    widest = ceil(total / COMMITS)
    slots = random.sample(range(len(ranges) // widest - 1), min(COMMITS, total))
    return [
        (ranges[slots[number % len(slots)] * widest].min_key, max(1, (total + number) // COMMITS))
        for number in range(COMMITS)
    ]


def _rows(
    snapshots: Snapshots, base: MetaRangeId, place: bytes, width: int, begin: Begin, random: Random
) -> Iterator[Record]:
    """Give the rows of some neighbouring ranges, or as many from any row on."""
    metarange = snapshots.files.metarange(base)
    ranges, first = list(metarange), metarange.find(place)
    skipped, taken = 0, sum(found.count for found in ranges[first : first + width])
    if begin is Begin.ANYWHERE:
        total = sum(found.count for found in ranges)
        taken = width * total // len(ranges)
        first, skipped = 0, random.randrange(total - taken)
        while skipped >= ranges[first].count:
            skipped -= ranges[first].count
            first += 1
    records = chain.from_iterable(
        snapshots.files.range_once(found.id).records() for found in ranges[first:]
    )
    return islice(records, skipped, skipped + taken)


def _changes(
    rows: Iterable[Record], density: float, random: Random
) -> Iterator[tuple[bytes, Record]]:
    for row in rows:
        if random.random() >= density:
            continue
        kind = random.randrange(10)
        if kind == 0:
            yield row.key, Record(row.key, b"", b"")
            continue
        key = row.key + random.randbytes(1) if kind == 1 else row.key
        yield key, Record(key, random.randbytes(32), row.value)


def _file_size(changes: list[Record]) -> int:
    kept = Records.of(change for change in changes if change.identity)
    return write_table(kept, "ranges", {}).size_bytes


HEADING = (
    f"{'blocks a day':>12} {'begin at':>12} {'rows changed':>12} {'ranges':>7}"
    f" {'reuse':>8} {'worst':>8} {'seed 001':>8} {'written/changed':>16}"
)


def line(day: Day, commits: list[Commit]) -> str:
    """Give a line of the table: the mean and the worst reuse, and the write amplification."""
    reuse, worst = mean(each.reuse for each in commits), min(each.reuse for each in commits)
    written = sum(each.bytes_written for each in commits)
    amplification = written / sum(each.bytes_changed for each in commits)
    return (
        f"{day.share:12.0%} {day.begin:>12} {day.density:12.0%} {commits[0].before:7}"
        f" {reuse:8.2%} {worst:8.2%} {day.seed_reuse:8.2%} {amplification:16.1f}"
    )
