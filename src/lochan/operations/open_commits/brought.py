# SPDX-License-Identifier: Apache-2.0
"""What a commit brings to those who have some of its history already.

They are asked which commits they share with it. Of those the last ones count, which are several
where history went criss-cross, or where it shares one with this and another with that of them.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from lochan.committed import Snapshots
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.records import Commit, ValueRecord
from lochan.operations.open_commits.three_way import Brought
from lochan.refs.kinship import Kinship


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
    shared = kinship.latest(base for other in seen for base in kinship.merge_bases(other, commit))
    return tuple(dict.fromkeys(base.meta_range_id for base in shared)) or (EMPTY_TREE,)


def brought(
    snapshots: Snapshots,
    earlier: Sequence[MetaRangeId],
    tree: MetaRangeId,
    parted: Sequence[MetaRangeId],
) -> Iterator[tuple[bytes, Brought]]:
    """Give what a tree brings to one that has the earlier trees behind it, in key order.

    `parted` are the trees where it parted from the target, which others may lie behind.
    """
    trees = list(dict.fromkeys((*earlier, *parted)))
    streams = [_versions(snapshots, number, left, tree) for number, left in enumerate(trees)]
    merged = heapq.merge(*streams, key=itemgetter(0, 1))
    for key, several in groupby(merged, key=itemgetter(0)):
        rows = {trees[row.number]: row for row in several}
        right = next(iter(rows.values())).right
        # A tree without a row has the file as it is now.
        lefts = {each: rows[each].left if each in rows else right for each in trees}
        if not rows.keys().isdisjoint(earlier):
            yield (
                key,
                Brought(
                    tuple(lefts[each] for each in earlier),
                    right,
                    tuple(lefts[each] for each in parted),
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
