# SPDX-License-Identifier: Apache-2.0
"""Squash: what several commits did since they parted from the target, as one commit.

Each source is compared with the last commits that it shares with the target or with a source before
it, so that nothing is brought twice. The comparisons run side by side in key order.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, groupby
from operator import itemgetter

from lochan.committed import Snapshots
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.records import Commit
from lochan.operations.open_commits.brought import Trees, brought, trees_of
from lochan.operations.open_commits.file_change import Decide
from lochan.operations.open_commits.file_tree import FileTrees
from lochan.operations.open_commits.land import Growth
from lochan.operations.open_commits.three_way import Brought, merged
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


def _parts(kinship: Kinship, head: Commit | None, sources: Sequence[Commit]) -> Iterator[Trees]:
    """Give the part of each source that brings something."""
    target = [] if head is None else [head]
    before: list[Commit] = []
    for source in sources:
        others = [*target, *before, *(other for other in sources if other.id != source.id)]
        if _is_behind(kinship, source, others):
            continue
        parted = [base for each in target for base in kinship.merge_bases(each, source)]
        shared = [kinship.merge_bases(other, source) for other in before]
        beside = defaultdict[tuple[MetaRangeId, ...], set[int]](set)
        for number, bases in enumerate(shared):
            # What the target has behind it as well is the target's.
            theirs = [base for base in bases if not _is_behind(kinship, base, target)]
            if theirs:
                beside[trees_of(theirs)].add(number)
        yield Trees(
            source.meta_range_id,
            trees_of(kinship.latest(chain(parted, *shared))),
            trees_of(parted),
            len(before),
            tuple((trees, frozenset(numbers)) for trees, numbers in beside.items()),
        )
        before.append(source)


def _is_behind(kinship: Kinship, commit: Commit, others: Sequence[Commit]) -> bool:
    return any(kinship.is_ancestor(commit, other, or_self=True) for other in others)


def _beside(snapshots: Snapshots, parts: Sequence[Trees]) -> Iterator[tuple[bytes, Decide]]:
    streams = [_numbered(brought(snapshots, part)) for part in parts]
    rows = heapq.merge(*streams, key=itemgetter(0, 1))
    for key, several in groupby(rows, key=itemgetter(0)):
        yield key, partial(merged, [source for _, _, source in several])


def _numbered(sources: Iterable[tuple[bytes, Brought]]) -> Iterator[tuple[bytes, int, Brought]]:
    for key, source in sources:
        yield key, source.number, source
