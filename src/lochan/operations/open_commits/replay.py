# SPDX-License-Identifier: Apache-2.0
"""Replay: the commits that the target lacks, copied one by one, in order.

They are those on a source's way of first parents behind the last that the target has, which clocks
tell. A copy keeps what its commit says and does to each file what that did, with a clock of its
own. A merge on the way counts as what it did to its first parent; but what it brought may have come
from the target itself, or have been copied before, and does not come again.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from lochan.model.clock import Span
from lochan.model.ids import EMPTY_TREE, CommitId, MetaRangeId
from lochan.model.records import Commit
from lochan.operations.open_commits.brought import Trees, brought, trees_behind
from lochan.operations.open_commits.file_tree import FileTrees
from lochan.operations.open_commits.land import Growth
from lochan.operations.open_commits.published import MARK
from lochan.operations.open_commits.three_way import merged
from lochan.operations.request import Said
from lochan.refs.commits import get_commit
from lochan.refs.expired import require_kept
from lochan.refs.kinship import Kinship

ORIGIN: Final = "replay-origin"


def replay(
    trees: FileTrees, growth: Growth, sources: Sequence[Commit], committer: str
) -> Iterator[Commit]:
    """Add a copy of every commit that the head lacks; of those that sources share, one."""
    tables, target = trees.lake.tables(trees.repository), growth.head
    kinship, seen = growth.kinship, [] if target is None else [target]
    for source in sources:
        for commit_id in _missing(kinship, source, target):
            commit = get_commit(tables, commit_id)
            # What a source before it has behind it has come with that one, by its merges, too.
            if any(kinship.is_ancestor(commit, other, or_self=True) for other in seen):
                continue
            require_kept(trees.lake.store, trees.repository, commit_id)
            earlier = _earlier(trees, kinship, commit, seen)
            tree = _tree(trees, growth, commit, earlier)
            yield growth.add(tree, _said(trees, commit, committer))
        seen.append(source)


def _missing(kinship: Kinship, source: Commit, target: Commit | None) -> Iterator[CommitId]:
    """Name the commits on a source's way that are not behind the target, parents first."""
    lacking = {span.lineage: span for span in kinship.history(source, target)}
    spans = [
        Span(line, lacking[line].first, place)
        for line, place in source.clocks
        if line in lacking and lacking[line].first <= place
    ]
    return kinship.ids(tuple(spans))


def _earlier(
    trees: FileTrees, kinship: Kinship, commit: Commit, seen: Sequence[Commit]
) -> tuple[MetaRangeId, ...]:
    """Name the trees that a commit is compared with: its first parent has been copied, too."""
    if not commit.parents:
        return (EMPTY_TREE,)
    if len(commit.parents) == 1:
        return (trees.lake.commits.tree(trees.repository, commit.parents[0]),)
    first = get_commit(trees.lake.tables(trees.repository), commit.parents[0])
    return trees_behind(kinship, commit, [first, *seen])


def _tree(
    trees: FileTrees, growth: Growth, commit: Commit, earlier: tuple[MetaRangeId, ...]
) -> MetaRangeId:
    base = growth.head.meta_range_id if growth.head else EMPTY_TREE
    sources = brought(trees.snapshots, Trees(commit.meta_range_id, earlier, earlier))
    changes = ((key, partial(merged, [source])) for key, source in sources)
    return trees.changed(base, changes, growth.clocks[-1])


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
