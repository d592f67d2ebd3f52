# SPDX-License-Identifier: Apache-2.0
"""Mark: every object that the roots lead to, each distinct range read once."""

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from lochan.committed.files import Files
from lochan.committed.parallel import Crew
from lochan.errors import Corruption, NotFound
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import HashSet
from lochan.model.ids import MetaRangeId, RangeId
from lochan.model.records import Repository
from lochan.operations.gc.expiry import Horizon
from lochan.operations.gc.marks import RangeMarks, ReadMarks
from lochan.operations.gc.roots import Roots, gather_roots, home_of
from lochan.operations.lake import Lake

THREADS: Final = 8  # ranges that are read beside each other; what they write waits for a disk

Told = Callable[[str, int], None]  # what is done, and how far it is


def tell_nobody(what: str, count: int) -> None:
    """Tell nobody how far it is."""


@dataclass(frozen=True, slots=True)
class Marked:
    """What is alive: the hashes of its addresses; and the roots that this was found from."""

    objects: HashSet
    roots: Roots
    ranges: int


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
    ranges = distinct_ranges(
        lake.storage(repository.storage_namespace).snapshots.files, roots.trees
    )
    alive = kernel.hash_set()
    alive.update(memoryview(array("q", roots.objects)))
    reading = (read or range_marks(lake, repository))(sorted(ranges))
    try:
        for number, marks in enumerate(reading, 1):
            alive.update(marks.hashes)
            told("ranges", number)
    except NotFound as error:
        raise _missing(str(error)) from error
    return Marked(alive, roots, len(ranges))


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
