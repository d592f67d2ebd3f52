# SPDX-License-Identifier: Apache-2.0
"""Write a branch's staged rows out into a tree, so that reading does not look through them.

A listing over a million staged tombstones reads every one of them; a branch whose commits failed
has a row of sealed tokens, and each costs every read a look (H11). Compaction seals what is staged,
builds the tree with it, as a commit would, and names that tree in the branch record in the same
compare-and-swap that takes the tokens away. The head stays: nothing is committed, and the tree lies
*under* what is staged from then on (`compacted_base_meta_range_id`). The next commit starts from
it; a reset drops it.

Against a commit under way it is like an earlier commit of the same tokens, and the other way round:
whoever comes second finds its tokens taken, and its validated tree still true (see staged_tree).
"""

import msgspec

from lochan.errors import Conflict
from lochan.model.ids import BranchName
from lochan.model.records import Branch, Repository
from lochan.operations.lake import Lake
from lochan.operations.publish import swap
from lochan.operations.seal import seal
from lochan.operations.staged_tree import StagedTree, after_resets, build
from lochan.operations.view import as_base, tree_under
from lochan.staging.layers import still_forgotten
from lochan.staging.sealed import trim

ATTEMPTS = 100


def compact(lake: Lake, repository: Repository, name: BranchName) -> Branch:
    """Put all that was staged before the call into a tree under the branch; gives the branch.

    What the branch shows does not change. Raises: NotFound; Conflict when others always came first.
    """
    mine = seal(lake, repository, name).sealed_tokens
    tree: StagedTree | None = None
    stored = lake.branches.fresh(repository, name)
    for _ in range(ATTEMPTS):
        branch = stored.record
        found = trim(mine, branch.sealed_tokens)
        if not found.left:  # a commit, a reset or another compaction took them
            return branch
        under = tree_under(lake, repository, branch)
        if tree is not None:
            tree = after_resets(lake, repository, branch, tree, found.overlap)
        if tree is None or not tree.holds(branch, under, found.overlap):
            mine = found.left
            tree, stored = build(lake, repository, name, stored, mine)
            continue
        base = as_base(tree.id, lake.commits.tree(repository, branch.commit_id))
        moved = msgspec.structs.replace(
            branch,
            sealed_tokens=found.newer,
            forgotten=still_forgotten(branch, found.newer),
            compacted_base_meta_range_id=base,
        )
        if swap(lake, repository, stored, moved, found.left):
            return moved
        stored = lake.branches.fresh(repository, name)
    message = f"branch {name!r} was changed by others {ATTEMPTS} times; compact it again"
    raise Conflict(message, code="contended", branch=name)
