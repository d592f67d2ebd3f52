# SPDX-License-Identifier: Apache-2.0
"""The tree that a branch would have with its sealed tokens committed; when it may be believed.

A scan of tokens takes time, and a commit that ends meanwhile has their rows removed. So the branch
is read again after the scan: only if all tokens were still sealed, and what lies under them was
still the same, is the tree what it says (H1). A tree so *validated* stays true when an earlier
commit takes the older of its tokens: it holds theirs and ours, and the head is now what it was
built on with theirs applied.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from lochan.committed import Applied, Snapshots
from lochan.committed.interval import Interval
from lochan.kernel.records import Records
from lochan.model.ids import BranchName, CommitId, MetaRangeId
from lochan.model.records import Branch, Repository
from lochan.operations.branch_reads import BranchRead
from lochan.operations.lake import Lake
from lochan.operations.pace import Pace
from lochan.operations.view import tree_under, without_moves
from lochan.staging.fold import CHUNK_ROWS, staged_changes
from lochan.staging.layers import layers_of
from lochan.staging.sealed import Overlap, Tokens, trim

FEW = 4  # chunks; what has fewer is done before a thread has begun


@dataclass(frozen=True, slots=True)
class StagedTree:
    """A validated tree: what lay under a branch's staged rows, with `tokens` applied."""

    id: MetaRangeId
    tokens: Tokens
    commit_id: CommitId
    under: MetaRangeId
    resets: int

    def holds(self, branch: Branch, under: MetaRangeId, overlap: Overlap) -> bool:
        """Say whether this is what a branch would be with the tokens committed.

        A head moves while tokens stay sealed only by a commit of the oldest ones (H7). So where
        some of ours were taken, head and tokens moved together; where none were, both must stand.
        """
        if branch.resets != self.resets or overlap is Overlap.LATER:
            return False
        return self.stands_on(branch, under) or overlap is Overlap.EARLIER

    def stands_on(self, branch: Branch, under: MetaRangeId) -> bool:
        """Say whether a branch has still the head, and the tree under its rows, of that time."""
        return branch.commit_id == self.commit_id and under == self.under


def build(
    lake: Lake, repository: Repository, name: BranchName, stored: BranchRead, tokens: Tokens
) -> tuple[StagedTree | None, BranchRead]:
    """Apply tokens to what lies under them; gives the branch as read after that, too.

    The tree is None unless both stood still until after the scan.
    """
    branch = stored.record
    under = tree_under(lake, repository, branch)
    if not tokens:
        shown = without_moves(lake, repository, branch, under)
        return StagedTree(shown, (), branch.commit_id, under, branch.resets), stored
    snapshots = lake.storage(repository.storage_namespace).snapshots
    applied = _applied(
        lake, snapshots, under, staged_changes(lake.staging, layers_of(branch, tokens))
    )
    shown = applied.id
    if branch.compacted_base_meta_range_id:  # else what is staged again keeps the head's rows
        shown = without_moves(lake, repository, branch, applied.id)
    tree = StagedTree(shown, tokens, branch.commit_id, under, branch.resets)
    current = lake.branches.fresh(repository, name)
    overlap = trim(tokens, current.record.sealed_tokens).overlap
    tree = after_resets(lake, repository, current.record, tree, overlap)
    stood = overlap is Overlap.NOBODY and tree.holds(
        current.record, tree_under(lake, repository, current.record), overlap
    )
    return (tree if stood else None), current


def after_resets(
    lake: Lake, repository: Repository, branch: Branch, tree: StagedTree, overlap: Overlap
) -> StagedTree:
    """Take out of a tree what was reset since it was built: it shows there what lies under it.

    So many small resets do not make a commit of much begin again and again. While all of a tree's
    tokens are sealed still, only some keys can have been reset: a reset of everything takes them.
    What is forgotten since then was noted under tokens at least as new as the newest of these.
    """
    if branch.resets == tree.resets or not tree.tokens or overlap is not Overlap.NOBODY:
        return tree
    under = tree_under(lake, repository, branch)
    if not tree.stands_on(branch, under):
        return tree
    (newest,) = layers_of(branch, tree.tokens[:1])
    if not newest.forgotten:  # a job's driver was fenced off
        return replace(tree, resets=branch.resets)
    within = [Interval(one.start, one.stop) for one in newest.forgotten]
    snapshots = lake.storage(repository.storage_namespace).snapshots
    kept = without_moves(lake, repository, branch, snapshots.replace(tree.id, under, within))
    return replace(tree, id=kept, resets=branch.resets)


def _applied(
    lake: Lake, snapshots: Snapshots, under: MetaRangeId, chunks: Iterator[Records]
) -> Applied:
    """Apply chunks; many of them by one thread of low priority that gives way.

    Writers wait for a processor a dozen times a write. Beside one thread that gives way they get
    one; beside as many as there are processors they wait each time (docs/decisions).
    """
    first = list(islice(chunks, FEW))
    if len(first) < FEW:
        return snapshots.apply(under, first)
    pace = Pace(lake)
    paced = _paced(chain(first, chunks), pace)
    with lake.environment.executor(1, background=True) as own:
        return own.submit(snapshots.apply, under, paced, breathe=pace.breathe).result()


def _paced(chunks: Iterator[Records], pace: Pace) -> Iterator[Records]:
    """Breathe between full chunks; the last one is short."""
    pace.breathe()
    for chunk in chunks:
        yield chunk
        if len(chunk) == CHUNK_ROWS:
            pace.breathe()
