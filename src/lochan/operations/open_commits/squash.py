# SPDX-License-Identifier: Apache-2.0
"""Squash: what several commits did since they parted from the target, as one commit.

Each source is compared with the last commits that it shares with the target or with a source before
it, so that nothing is brought twice. The comparisons run side by side in key order.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from lochan.committed import Snapshots
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.records import Commit
from lochan.operations.open_commits.brought import brought, trees_behind
from lochan.operations.open_commits.file_change import Decide
from lochan.operations.open_commits.file_tree import FileTrees
from lochan.operations.open_commits.land import Growth
from lochan.operations.open_commits.three_way import Brought, merged
from lochan.operations.request import Said
from lochan.refs.kinship import Kinship


class _Part(NamedTuple):
    """The trees between which a source brought something."""

    earlier: tuple[MetaRangeId, ...]
    tree: MetaRangeId
    parted: tuple[MetaRangeId, ...]


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


def _parts(kinship: Kinship, head: Commit | None, sources: Sequence[Commit]) -> Iterator[_Part]:
    """Give the part of each source that brings something."""
    target = [] if head is None else [head]
    seen = list(target)
    for source in sources:
        others = [*seen, *(other for other in sources if other.id != source.id)]
        if any(kinship.is_ancestor(source, other, or_self=True) for other in others):
            continue
        earlier = trees_behind(kinship, source, seen)
        parted = trees_behind(kinship, source, target) if len(seen) > len(target) else earlier
        yield _Part(earlier, source.meta_range_id, parted)
        seen.append(source)


def _beside(snapshots: Snapshots, parts: Sequence[_Part]) -> Iterator[tuple[bytes, Decide]]:
    streams = [_numbered(number, brought(snapshots, *part)) for number, part in enumerate(parts)]
    rows = heapq.merge(*streams, key=itemgetter(0, 1))
    for key, several in groupby(rows, key=itemgetter(0)):
        yield key, partial(merged, [source for _, _, source in several])


def _numbered(
    number: int, sources: Iterable[tuple[bytes, Brought]]
) -> Iterator[tuple[bytes, int, Brought]]:
    for key, source in sources:
        yield key, number, source
