# SPDX-License-Identifier: Apache-2.0
"""Mark: every object that the roots lead to, each distinct range read once."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from lochan.committed.files import Files
from lochan.committed.parallel import Crew
from lochan.errors import Corruption, NotFound
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import HashSet
from lochan.model.ids import EMPTY_TREE, CommitId, MetaRangeId, RangeId
from lochan.model.records import Repository
from lochan.operations.gc.expiry import Horizon
from lochan.operations.gc.marks import Marks, RangeMarks, ReadMarks
from lochan.operations.gc.roots import Roots, gather_roots, home_of, trees_of
from lochan.operations.lake import Lake
from lochan.refs.expired import expired_commits

THREADS: Final = 8  # ranges that are read beside each other; what they write waits for a disk

Told = Callable[[str, int], None]  # what is done, and how far it is


def tell_nobody(what: str, count: int) -> None:
    """Tell nobody how far it is."""


@dataclass(frozen=True, slots=True)
class Marked:
    """What is alive: the hashes of its addresses; and the roots that this was found from."""

    objects: HashSet
    roots: Roots
    ranges: set[RangeId]


def mark(
    lake: Lake,
    repository: Repository,
    horizon: Horizon,
    read: ReadMarks | None = None,
    told: Told = tell_nobody,
) -> Marked:
    """Mark what is alive. Raises Corruption for a root that cannot be read; Unavailable."""
    roots = gather_roots(lake, repository, horizon)
    told("roots", len(roots.objects))
    ranges = _ranges(lake, repository, roots.trees)
    alive = kernel.hash_set()
    alive.update(memoryview(array("q", roots.objects)))
    for number, marks in enumerate(_marks(lake, repository, ranges, read), 1):
        alive.update(marks.hashes)
        told("ranges", number)
    return Marked(alive, roots, ranges)


def mark_leaving(
    lake: Lake,
    repository: Repository,
    horizon: Horizon,
    marked: Marked,
    read: ReadMarks | None = None,
    told: Told = tell_nobody,
) -> HashSet:
    """Mark what is not alive, but in a commit on which anybody could build within the grace.

    Raises what `mark` raises.
    """
    rows = expired_commits(lake.store, repository).scan()
    long_expired = {CommitId(name.decode()) for name, row in rows if row.time <= horizon.young}
    leaving = marked.roots.expired - long_expired
    trees = set(trees_of(lake, repository, marked.roots.commits, leaving)) - {EMPTY_TREE}
    found = kernel.hash_set()
    ranges = _ranges(lake, repository, trees) - marked.ranges
    for number, marks in enumerate(_marks(lake, repository, ranges, read), 1):
        found.update(marks.hashes)
        told("leaving", number)
    return found


def _ranges(lake: Lake, repository: Repository, trees: Iterable[MetaRangeId]) -> set[RangeId]:
    return distinct_ranges(lake.storage(repository.storage_namespace).snapshots.files, trees)


def _marks(
    lake: Lake, repository: Repository, ranges: set[RangeId], read: ReadMarks | None
) -> Iterator[Marks]:
    reading = read or range_marks(lake, repository)
    try:
        yield from reading(sorted(ranges))
    except NotFound as error:
        raise _missing(str(error)) from error


def range_marks(lake: Lake, repository: Repository) -> RangeMarks:
    """Give the marks of a repository's ranges, worked out in this process."""
    storage = lake.storage(repository.storage_namespace)
    crew = Crew(lake.environment.executor(THREADS, background=True), THREADS)
    return RangeMarks(storage.objects, storage.snapshots.files, home_of(repository), crew)


def distinct_ranges(files: Files, trees: Iterable[MetaRangeId]) -> set[RangeId]:
    """Name every range of some trees once. Raises Corruption where a tree is missing."""
    found: set[RangeId] = set()
    for tree in sorted(trees):  # one order in every process: simulations can be repeated
        try:
            found.update(files.metarange(tree).range_ids)
        except NotFound as error:
            raise _missing(f"metarange {tree} is not there") from error
    return found


def _missing(what: str) -> Corruption:
    return Corruption(f"{what}; nothing is collected before fsck finds no damage", file="a tree")
