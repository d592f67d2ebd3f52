# SPDX-License-Identifier: Apache-2.0
"""Seed 001's model of a day: 20 commits that change a share of the blocks, clustered by prefix.

The seed measured that 5 to 20 % of the blocks of a lake change in a day, and divides: at 20 commits
a day each changes 0.25 to 1 %, so that it reuses at least 99 %. Here a block is a range. A commit
takes neighbouring ranges that no other commit of the day takes, and changes some of the rows in
them: of ten changes eight overwrite, one adds and one removes.

A prefix need not begin where a range does. `AT_RANGES` takes whole ranges, as the seed counts them;
`ANYWHERE` takes as many neighbouring rows from any place on, which touch one range more.

Bytes are those of files: what was stored for the commit, over what a file of the changed rows alone
would take.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from random import Random
from statistics import mean

from lochan.committed import Snapshots
from lochan.kernel.records import Record, Records
from lochan.model.ids import MetaRangeId
from lochan.objects.store import ObjectStore
from lochan.sstable import write_table
from support.trees import range_ids

COMMITS = 20
SEED_REUSE = 0.99


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
    count = len(range_ids(snapshots, base))
    width = max(1, int(day.share * count / COMMITS))
    slots = random.sample(range(count // width - 1), COMMITS)
    commits = []
    for slot in slots:
        rows = list(_rows(snapshots, base, slot * width, width, day.begin, random))
        changes = sorted(dict(_changes(rows, day.density, random)).values())
        result = snapshots.apply(base, [Records.of(changes)])
        before, after = (set(range_ids(snapshots, each)) for each in (base, result.id))
        stored = sum(objects.head(f"_lakefs/{name}").size for name in (after - before))
        stored += objects.head(f"_lakefs/{result.id}").size
        commits.append(Commit(len(before), result.ranges_reused, stored, _file_size(changes)))
        base = result.id
    return commits


def _rows(
    snapshots: Snapshots, base: MetaRangeId, first: int, width: int, begin: Begin, random: Random
) -> Iterator[Record]:
    """Give the rows of some neighbouring ranges, or as many from a row inside the first one on."""
    ranges = list(snapshots.files.metarange(base))
    records = chain.from_iterable(
        snapshots.files.range_once(found.id).records() for found in ranges[first:]
    )
    skipped = random.randrange(ranges[first].count) if begin is Begin.ANYWHERE else 0
    taken = sum(found.count for found in ranges[first : first + width])
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
    f" {'reuse':>8} {'worst':>8} {'seed 001':>9} {'written/changed':>16}"
)


def line(day: Day, commits: list[Commit]) -> str:
    """Give a line of the table: the mean and the worst reuse, and the write amplification."""
    reuse, worst = mean(each.reuse for each in commits), min(each.reuse for each in commits)
    written = sum(each.bytes_written for each in commits)
    amplification = written / sum(each.bytes_changed for each in commits)
    return (
        f"{day.share:12.0%} {day.begin:>12} {day.density:12.0%} {commits[0].before:7}"
        f" {reuse:8.2%} {worst:8.2%} {f'>= {SEED_REUSE:.0%}':>9} {amplification:16.1f}"
    )
