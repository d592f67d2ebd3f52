# SPDX-License-Identifier: Apache-2.0
"""How much of a repository's storage each branch, tag and commit holds, alone and together.

    size     all that a ref shows
    unique   what no other ref of the report shows: it could go if the ref went
    shared   the rest of it

Objects are counted once however many keys name them. What is imported lies elsewhere and counts
for nothing. Ranges are read once for all refs, and what they hold is remembered between reports and
collections (`lochan.operations.gc.marks`). What is staged is not counted.
"""

from collections.abc import Iterable, Mapping

import msgspec

from lochan.model.ids import CommitId
from lochan.model.records import Repository
from lochan.operations.gc.mark import Told, distinct_ranges, range_marks, tell_nobody
from lochan.operations.lake import Lake
from lochan.operations.reference import committed
from lochan.refs.branches import list_branches
from lochan.refs.tags import list_tags


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What one ref holds: numbers of objects and bytes."""

    ref: str
    commit_id: CommitId
    objects: int
    size: int
    unique_objects: int
    unique_size: int

    @property
    def shared_size(self) -> int:
        """What others show as well."""
        return self.size - self.unique_size


class StorageReport(msgspec.Struct, frozen=True, kw_only=True):
    """What all refs of a report hold, and each."""

    objects: int
    size: int
    refs: tuple[Usage, ...]


def storage_report(
    lake: Lake, repository: Repository, refs: Iterable[str] = (), told: Told = tell_nobody
) -> StorageReport:
    """Report on refs, or on all branches and tags. Raises what resolving and reading raise."""
    named = _named(lake, repository, list(refs))
    files = lake.storage(repository.storage_namespace).snapshots.files
    ranges = {
        ref: distinct_ranges(files, {lake.commits.tree(repository, commit)} - {""})
        for ref, commit in named.items()
    }
    wanted = sorted(set().union(*ranges.values())) if ranges else []
    marks = {}
    for number, (one, found) in enumerate(
        zip(wanted, range_marks(lake, repository)(wanted), strict=True), 1
    ):
        marks[one] = dict(zip(found.hashes, found.sizes, strict=True))
        told("ranges", number)
    held = {ref: _joined(marks[one] for one in ranges[ref]) for ref in named}
    holders: dict[int, int] = {}
    for objects in held.values():
        for each in objects:
            holders[each] = holders.get(each, 0) + 1
    everything = _joined(held.values())
    return StorageReport(
        objects=len(everything),
        size=sum(everything.values()),
        refs=tuple(_usage(ref, named[ref], held[ref], holders) for ref in named),
    )


def _named(lake: Lake, repository: Repository, refs: list[str]) -> dict[str, CommitId]:
    if refs:
        return {ref: committed(lake, repository, ref) for ref in refs}
    tables = lake.tables(repository)
    branches = {str(b.branch_id): b.commit_id for b in list_branches(tables, hidden=True)}
    return {**branches, **{str(tag.tag_id): tag.commit_id for tag in list_tags(tables)}}


def _joined(parts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    found: dict[int, int] = {}
    for part in parts:
        found.update(part)
    return found


def _usage(
    ref: str, commit: CommitId, objects: Mapping[int, int], holders: Mapping[int, int]
) -> Usage:
    unique = [size for one, size in objects.items() if holders[one] == 1]
    return Usage(
        ref=ref,
        commit_id=commit,
        objects=len(objects),
        size=sum(objects.values()),
        unique_objects=len(unique),
        unique_size=sum(unique),
    )
