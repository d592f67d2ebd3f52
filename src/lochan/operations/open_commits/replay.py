# SPDX-License-Identifier: Apache-2.0
"""Replay: the commits that the target lacks, copied one by one, in order.

They are those on a source's way of first parents behind the last that the target has, which clocks
tell. A copy keeps what its commit says and does to each file what that did, with a clock of its
own. A merge on the way counts as what it did to its first parent; what it brought may have come
from the target itself, so a file that the target has already in that version, or a later one, is
left as it is.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from lochan.model.clock import Span
from lochan.model.entry import Entry
from lochan.model.ids import EMPTY_TREE, CommitId, MetaRangeId
from lochan.model.records import Commit
from lochan.operations.open_commits.file_change import (
    UNCHANGED,
    FileChange,
    change_between,
    holds,
)
from lochan.operations.open_commits.file_tree import FileTrees, versions_between
from lochan.operations.open_commits.land import Growth
from lochan.operations.open_commits.published import MARK
from lochan.operations.request import Said
from lochan.refs.commits import get_commit
from lochan.refs.expired import require_kept
from lochan.refs.kinship import Kinship

ORIGIN: Final = "replay-origin"


def replay(
    trees: FileTrees, growth: Growth, sources: Sequence[Commit], committer: str
) -> Iterator[Commit]:
    """Add a copy of every commit that the head lacks; of those that sources share, one."""
    target, copied = growth.head, set[CommitId]()
    for source in sources:
        for commit_id in _missing(growth.kinship, source, target):
            if commit_id in copied:
                continue
            copied.add(commit_id)
            require_kept(trees.lake.store, trees.repository, commit_id)
            commit = get_commit(trees.lake.tables(trees.repository), commit_id)
            tree = _tree(trees, growth, commit)
            yield growth.add(tree, _said(trees, commit, committer))


def _missing(kinship: Kinship, source: Commit, target: Commit | None) -> Iterator[CommitId]:
    """Name the commits on a source's way that are not behind the target, parents first."""
    lacking = {span.lineage: span for span in kinship.history(source, target)}
    spans = [
        Span(line, lacking[line].first, place)
        for line, place in source.clocks
        if line in lacking and lacking[line].first <= place
    ]
    return kinship.ids(tuple(spans))


def _tree(trees: FileTrees, growth: Growth, commit: Commit) -> MetaRangeId:
    first, is_merge = next(iter(commit.parents), None), len(commit.parents) > 1
    below = trees.lake.commits.tree(trees.repository, first) if first else EMPTY_TREE
    changes = (
        (key, partial(_decided, change_between(left, right), right if is_merge else None))
        for key, left, right in versions_between(trees.snapshots, below, commit.meta_range_id)
    )
    base = growth.head.meta_range_id if growth.head else EMPTY_TREE
    return trees.changed(base, changes, growth.clocks[-1])


def _decided(change: FileChange, merged: Entry | None, below: Entry | None) -> FileChange:
    has_it = below is not None and merged is not None and holds(below, merged)
    return UNCHANGED if has_it else change


def _said(trees: FileTrees, commit: Commit, committer: str) -> Said:
    metadata = {key: value for key, value in commit.metadata.items() if key != MARK}
    return Said(
        committer or commit.committer,
        commit.message,
        {**metadata, ORIGIN: commit.id},
        trees.now,
        started=commit.started or trees.now,
        finished=trees.now,
        provenance=commit.provenance,
    )
