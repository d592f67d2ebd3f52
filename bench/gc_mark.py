# SPDX-License-Identifier: Apache-2.0
"""Mark of a collection: 5 million objects, 200 commits that share 99 % of their ranges.

The yardstick reads every distinct range once, as records, by as many threads. The first mark knows
nothing; the next one has the marks of all ranges but those of new commits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from ground import MAIN
from lake_data import records
from lakes import FOLDER, link_lake
from lochan.bootstrap.lake import open_lake, prepare_process
from lochan.committed.files import Files
from lochan.committed.parallel import Crew, Job
from lochan.environment import RealEnvironment
from lochan.model.ids import MetaRangeId, RangeId, RepositoryId, StorageNamespace
from lochan.model.instant import EPOCH, from_seconds
from lochan.model.records import Repository
from lochan.objects.walk import walk
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.create_repository import create_repository
from lochan.operations.gc.expiry import Horizon
from lochan.operations.gc.mark import THREADS, distinct_ranges, mark
from lochan.operations.gc.marks import PREFIX
from lochan.operations.lake import Lake
from lochan.operations.request import Candidate, Said
from measure import Row, best, chosen

OBJECTS = chosen(5_000_000, small=20_000)
COMMITS = chosen(200, small=5)
MOST = 2.0


@dataclass(frozen=True, slots=True)
class Marked:
    """What is marked."""

    lake: Lake
    repository: Repository
    trees: set[MetaRangeId]


def main() -> list[Row]:
    """Make the history, read it, mark it twice."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    prepare_process()
    with TemporaryDirectory(prefix="mark-", dir=FOLDER) as name:
        objects = Path(name) / "objects"
        tree = link_lake(OBJECTS, objects)
        with open_lake(f"sqlite://{name}/kv.db", RealEnvironment()) as lake:
            place = StorageNamespace(f"local://{objects}")
            repository = create_repository(lake, RepositoryId("bench"), place, MAIN)
            trees = set(grown(lake, repository, tree))
            return list(measured(Marked(lake, repository, trees)))


def grown(lake: Lake, repository: Repository, tree: MetaRangeId) -> Iterator[MetaRangeId]:
    """Commit a tree, and others with a few changed objects in one place each."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    step = OBJECTS // COMMITS
    for number in range(COMMITS):
        if number:
            changes = records(number * step, number * step + 10, version=number)
            tree = snapshots.apply(tree, [changes]).id
        said = Said("bench", f"commit {number}", {}, EPOCH)
        advance(
            lake,
            repository,
            MAIN,
            said,
            partial(lambda made, _: Candidate(made), tree),
            action=Action.IMPORT,
        )
        yield tree


def measured(at: Marked) -> Iterator[Row]:
    """Take the times."""
    files = at.lake.storage(at.repository.storage_namespace).snapshots.files
    ranges = sorted(distinct_ranges(files, at.trees))
    now = from_seconds(at.lake.environment.now())
    work = partial(mark, at.lake, at.repository, Horizon(now, 0))

    reading = best(partial(read_once, at, ranges)).wall_s
    marking = min(first(at, work) for _ in range(3))
    again = best(work).wall_s
    what = f"mark {OBJECTS:,} objects, {COMMITS} commits, {len(ranges)} ranges"
    yardstick = f"reading the ranges once {reading:.2f} s"
    yield Row(
        f"GC: {what}",
        f"{marking:.2f} s",
        yardstick,
        marking / reading,
        f"< {MOST:.0f}x",
        marking < MOST * reading,
    )
    yield Row(f"GC: {what}, again", f"{again:.2f} s", yardstick, again / reading, "report", None)


def first(at: Marked, work: Callable[[], object]) -> float:
    """Mark when nothing is remembered."""
    objects = at.lake.storage(at.repository.storage_namespace).objects
    objects.delete(*(one.address for one in walk(objects, PREFIX)))
    return best(work, 1).wall_s


def read_once(at: Marked, ranges: list[RangeId]) -> None:
    """Read every range as records."""
    files = at.lake.storage(at.repository.storage_namespace).snapshots.files
    crew = Crew(at.lake.environment.executor(THREADS, background=True), THREADS)
    jobs: Iterator[int | Job[int]] = (Job(partial(read, files, one)) for one in ranges)
    counts: Iterator[int] = crew.in_order(jobs)
    rows = sum(counts)
    assert rows >= OBJECTS, "a row is missing"


def read(files: Files, id: RangeId) -> int:  # noqa: A002 - the seeds' word
    """Read a range, and count its rows."""
    return len(files.range_once(id).records())


if __name__ == "__main__":
    print(msgspec.json.encode(main()).decode())
