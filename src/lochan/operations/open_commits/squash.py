# SPDX-License-Identifier: Apache-2.0
"""Squash: what several commits did since they parted from the target, as one commit.

Each source is compared with the last commit that it shares with the target or with a source before
it, so that nothing is brought twice. The comparisons run side by side in key order.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby

from lochan.committed import Snapshots
from lochan.model.entry import Entry
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.records import Commit
from lochan.operations.open_commits.file_change import FileChange, change_between
from lochan.operations.open_commits.file_tree import (
    Decide,
    FileTrees,
    always,
    versions_between,
)
from lochan.operations.open_commits.land import Growth
from lochan.operations.request import Said
from lochan.refs.kinship import Kinship


def squashed(
    trees: FileTrees, growth: Growth, sources: Sequence[Commit], said: Said
) -> Iterator[Commit]:
    """Add one commit with what the sources bring; none if the head has them all behind it."""
    head = growth.head
    parts = list(_parts(growth.kinship, head, sources))
    if parts:
        base = head.meta_range_id if head else EMPTY_TREE
        changes = _beside(trees.snapshots, parts)
        yield growth.add(trees.changed(base, changes, growth.clocks[-1]), said)


def _parts(
    kinship: Kinship, head: Commit | None, sources: Sequence[Commit]
) -> Iterator[tuple[MetaRangeId, MetaRangeId]]:
    """Give for each source that brings something the trees between which it did so."""
    seen = [] if head is None else [head]
    for source in sources:
        others = [*seen, *(other for other in sources if other.id != source.id)]
        if any(kinship.is_ancestor(source, other, or_self=True) for other in others):
            continue
        bases = [base for other in seen if (base := kinship.merge_base(other, source))]
        last = max(bases, key=lambda base: base.generation, default=None)
        yield (last.meta_range_id if last else EMPTY_TREE), source.meta_range_id
        seen.append(source)


def _beside(
    snapshots: Snapshots, parts: Sequence[tuple[MetaRangeId, MetaRangeId]]
) -> Iterator[tuple[bytes, Decide]]:
    streams = [
        _numbered(number, versions_between(snapshots, *trees)) for number, trees in enumerate(parts)
    ]
    merged = heapq.merge(*streams, key=lambda row: row[:2])
    for key, rows in groupby(merged, key=lambda row: row[0]):
        yield key, always(reduce(FileChange.beside, (change for _, _, change in rows)))


def _numbered(
    number: int, versions: Iterable[tuple[bytes, Entry | None, Entry | None]]
) -> Iterator[tuple[bytes, int, FileChange]]:
    for key, left, right in versions:
        yield key, number, change_between(left, right)
