# SPDX-License-Identifier: Apache-2.0
"""The reader's protocol (seed 004): what a branch shows is its staged writes over its commit.

        read the branch (as last seen)
        look under the staging token, the sealed tokens from the newest on, then in the commit
        read the branch again, fresh: if commit or any token changed, look again

A commit that ended meanwhile may have had its tokens dropped while we looked: what was missing
there is in the new commit. So the whole record is compared, not the staging token alone (H2, H3).
"""

from collections.abc import Callable
from typing import TypeVar

from lochan.errors import Unavailable
from lochan.kernel.records import Record
from lochan.model.codec import decode_staged_entry
from lochan.model.ids import (
    COMPACTED_TO_NOTHING,
    EMPTY_TREE,
    BranchName,
    MetaRangeId,
    StagingToken,
)
from lochan.model.records import Branch, Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.staging.layers import layers_of

Answer = TypeVar("Answer")

ATTEMPTS = 100  # two record changes a commit (G11): a hundred means fifty commits in one read


def tokens_of(branch: Branch) -> tuple[StagingToken, ...]:
    """Give the tokens of a branch in the order in which they are looked at: newest first."""
    return (branch.staging_token, *branch.sealed_tokens)


def is_same_view(one: Branch, other: Branch) -> bool:
    """Say whether two records show the same: commit, base, every token, all that is forgotten."""
    return (
        one.commit_id == other.commit_id
        and tokens_of(one) == tokens_of(other)
        and one.forgotten == other.forgotten
        and one.compacted_base_meta_range_id == other.compacted_base_meta_range_id
    )


def nothing_brought(one: Branch, later: Branch) -> bool:
    """Say whether, from one record to a later one, nothing but staged writes joined what it shows.

    Commits and compactions put elsewhere what tokens held.
    """
    return one.moves == later.moves and one.resets == later.resets


def read_stably(
    lake: Lake, repository: Repository, name: BranchName, read: Callable[[Branch], Answer]
) -> Answer:
    """Run `read` on a branch record until the record was the same before and after it.

    `read` must be free of effects and gather its whole answer: it may run again.
    """
    branch = lake.branches.seen(repository, name).record
    for _ in range(ATTEMPTS):
        answer = read(branch)
        current = lake.branches.fresh(repository, name).record
        if is_same_view(branch, current):
            return answer
        branch = current
    raise Unavailable(f"branch {name!r} changed {ATTEMPTS} times while it was read; try again")


def recall_record(
    lake: Lake, repository: Repository, name: BranchName, key: bytes
) -> Record | None:
    """Give what a branch shows for a key, if that needs no waiting; None says nothing.

    The branch and what is staged under its token are read at one instant, so that no second look
    is needed. Below a token that is being committed others would have to be asked: that takes the
    long way.
    """
    found = lake.branches.recall(
        repository, name, lambda branch: lake.staging.place_of(branch.staging_token, key)
    )
    if found is None:
        return None
    branch, staged = found
    if staged is not None:
        return as_shown(decode_staged_entry(staged.value))
    base = branch.compacted_base_meta_range_id
    tree = base or lake.commits.recall_tree(repository, branch.commit_id)
    if branch.sealed_tokens or not tree or tree == COMPACTED_TO_NOTHING:
        return None
    return lake.storage(repository.storage_namespace).snapshots.recall(tree, key)


def tree_under(lake: Lake, repository: Repository, branch: Branch) -> MetaRangeId:
    """Name the tree under a branch's staged writes: its head's, or what they were compacted to."""
    base = branch.compacted_base_meta_range_id
    if base:
        return EMPTY_TREE if base == COMPACTED_TO_NOTHING else base
    return lake.commits.tree(repository, branch.commit_id)


def without_moves(
    lake: Lake, repository: Repository, branch: Branch, tree: MetaRangeId
) -> MetaRangeId:
    """Give the head's tree instead of one with its content, where only addresses differ (G8)."""
    head = lake.commits.tree(repository, branch.commit_id)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    same = tree == head or not any(len(some) for some in snapshots.diff(head, tree))
    return head if same else tree


def as_base(tree: MetaRangeId, head: MetaRangeId) -> MetaRangeId:
    """Say how a branch names a tree as the one under its staged writes; its head's is none."""
    return MetaRangeId("") if tree == head else tree or COMPACTED_TO_NOTHING


def as_shown(entry: StagedEntry) -> Record | None:
    """Give what a staged row shows; None for a tombstone."""
    return None if entry.is_tombstone else Record(entry.key, entry.identity, entry.data)


def find_record(
    lake: Lake,
    repository: Repository,
    branch: Branch,
    key: bytes,
    tokens: tuple[StagingToken, ...] | None = None,
) -> Record | None:
    """Look a key up through tokens, all or some, and the commit of one record; None if absent.

    The answer holds only if the record is still the same afterwards: see `read_stably`.
    """
    for layer in layers_of(branch, tokens):
        found = lake.staging.find(layer.token, key) if layer.hiding(key) is None else None
        if found is not None:
            entry, _ = found
            return as_shown(entry)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    return snapshots.get(tree_under(lake, repository, branch), key)
