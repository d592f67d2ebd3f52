# SPDX-License-Identifier: Apache-2.0
"""What a commit brings to those who have some of its history already.

They are asked which commits they share with it. Of those the last ones count, which are several
where history went criss-cross, or where it shares one with this and another with that of them.
"""

import heapq
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from lochan.committed import Snapshots
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.records import Commit, ValueRecord
from lochan.operations.open_commits.three_way import Brought
from lochan.refs.kinship import Kinship


class Trees(NamedTuple):
    """The tree of a source, and those that it is compared with.

    `parted` are those where it parted from the target, `beside` those where it parted from sources
    before it and not from the target, with the numbers of these. The last of all are the earlier
    ones.
    """

    tree: MetaRangeId
    earlier: tuple[MetaRangeId, ...]
    parted: tuple[MetaRangeId, ...]
    number: int = 0
    beside: tuple[tuple[tuple[MetaRangeId, ...], frozenset[int]], ...] = ()


class _Versions(NamedTuple):
    """A file that differs between an earlier tree, by its number, and the tree of a commit."""

    key: bytes
    number: int
    left: Entry | None
    right: Entry | None


def trees_behind(
    kinship: Kinship, commit: Commit, seen: Iterable[Commit]
) -> tuple[MetaRangeId, ...]:
    """Name the trees of the last commits that a commit has behind it, and one of `seen` has, too.

    Where there is none, it is the empty one.
    """
    bases = (base for other in seen for base in kinship.merge_bases(other, commit))
    return trees_of(kinship.latest(bases))


def trees_of(commits: Iterable[Commit]) -> tuple[MetaRangeId, ...]:
    """Name the trees of commits; where there is none, it is the empty one."""
    return tuple(dict.fromkeys(commit.meta_range_id for commit in commits)) or (EMPTY_TREE,)


def brought(snapshots: Snapshots, source: Trees) -> Iterator[tuple[bytes, Brought]]:
    """Give what a tree brings to one that has the earlier trees behind it, in key order."""
    others = chain.from_iterable(parted for parted, _ in source.beside)
    trees = list(dict.fromkeys((*source.earlier, *source.parted, *others)))
    streams = [_versions(snapshots, number, left, source.tree) for number, left in enumerate(trees)]
    merged = heapq.merge(*streams, key=itemgetter(0, 1))
    for key, several in groupby(merged, key=itemgetter(0)):
        rows = {trees[row.number]: row for row in several}
        if rows.keys().isdisjoint(source.earlier):
            continue
        right = next(iter(rows.values())).right
        # A tree without a row has the file as it is now.
        lefts = {each: rows[each].left if each in rows else right for each in trees}
        yield (
            key,
            Brought(
                tuple(lefts[each] for each in source.earlier),
                right,
                tuple(lefts[each] for each in source.parted),
                source.number,
                tuple(
                    (tuple(lefts[each] for each in parted), numbers)
                    for parted, numbers in source.beside
                ),
            ),
        )


def _versions(
    snapshots: Snapshots, number: int, left: MetaRangeId, right: MetaRangeId
) -> Iterator[_Versions]:
    for differences in snapshots.diff(left, right):
        for change in differences:
            yield _Versions(change.key, number, _entry(change.left), _entry(change.right))


def _entry(value: ValueRecord | None) -> Entry | None:
    return None if value is None else decode_entry(value.data)
