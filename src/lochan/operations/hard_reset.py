# SPDX-License-Identifier: Apache-2.0
"""Move a branch to another commit: the one way in which history may go back (G15).

    1. the target must have been published; an attempt that lost its race is no history
    2. nothing may be uncommitted, unless the caller forces it. What is staged is sealed, so that
       later writes go elsewhere, and the sealed tokens are proved to change nothing (H7): a row
       that equals the old commit would be a change over the new one
    3. the old head gets its place in the clock index: its line has no owner from now on
    4. one compare-and-swap moves the head and takes tokens and compacted base away; the branch
       leaves its line, and its next commit begins a new one

Writes that arrive after the sealing stay staged, over the target. With force they are forgotten if
they came before step 4. A commit at the same time comes first and is left behind, or comes after
and stands on the target; it then holds only what was staged after the reset. What the branch left
behind stays reachable by its id, by tags and by other branches.
"""

import msgspec

from lochan.kv.table import Stored
from lochan.model.clock import leave_line
from lochan.model.ids import BranchName, MetaRangeId
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.advance import dirty_branch, is_dirty
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.branch_reads import BranchRead
from lochan.operations.lake import Lake
from lochan.operations.reset import ATTEMPTS, contended, fresh_token, swap_reset
from lochan.operations.seal import seal
from lochan.operations.view import tokens_of
from lochan.refs.clock_index import ClockIndex
from lochan.refs.expired import require_kept
from lochan.staging.sealed import Tokens


def hard_reset(
    lake: Lake, repository: Repository, name: BranchName, target: Commit, *, force: bool = False
) -> Branch:
    """Make a commit the head of a branch; with `force`, uncommitted changes are forgotten.

    `force` is not that of `Lake.forcing`, which overrides a read-only repository.
    Raises: InvalidInput, code dirty-branch; Conflict, code never-published, or when others always
    came first; NotFound; Refused; UnknownOutcome: read the branch, then repeat.
    """
    ClockIndex.of(lake.store, repository).require_published(target)
    require_kept(lake.store, repository, target.id)
    for _ in range(ATTEMPTS):
        stored = _allowed(lake, repository, name)
        if not force:
            _require_clean(lake, repository, stored.record, tokens_of(stored.record))
            stored = _sealed(lake, repository, stored)
            _require_clean(lake, repository, stored.record, stored.record.sealed_tokens)
        moved = _moved(lake, repository, stored, target, force=force)
        if swap_reset(lake, repository, stored, moved):
            return moved
    raise contended(name)


def _allowed(lake: Lake, repository: Repository, name: BranchName) -> BranchRead:
    stored = lake.branches.fresh(repository, name)
    require_allowed(stored.repository, name, Action.HARD_RESET, force=lake.force)
    return stored


def _sealed(lake: Lake, repository: Repository, stored: BranchRead) -> BranchRead:
    """Let what is staged so far stand still, if there is anything."""
    branch = stored.record
    if lake.staging.is_empty(branch.staging_token):
        return stored
    seal(lake, repository, branch.branch_id)
    return _allowed(lake, repository, branch.branch_id)


def _require_clean(lake: Lake, repository: Repository, branch: Branch, tokens: Tokens) -> None:
    """Refuse a branch whose tokens hold data; a look that was not stable loses the swap."""
    if is_dirty(lake, repository, branch, tokens):
        raise dirty_branch(branch.branch_id)


def _moved(
    lake: Lake, repository: Repository, stored: Stored[Branch], target: Commit, *, force: bool
) -> Branch:
    """Make the record of a branch that has left its head for another."""
    branch = stored.record
    lineage, ordinals = branch.lineage, branch.ordinals
    if branch.commit_id != target.id:
        head = lake.tables(repository).commits.get(branch.commit_id.encode()).record
        ClockIndex.of(lake.store, repository).place(head)
        lineage, ordinals = leave_line(head, branch)
    token = branch.staging_token
    return msgspec.structs.replace(
        branch,
        commit_id=target.id,
        staging_token=fresh_token(lake, repository, branch.branch_id) if force else token,
        sealed_tokens=(),
        forgotten=(),
        compacted_base_meta_range_id=MetaRangeId(""),
        lineage=lineage,
        ordinals=ordinals,
        resets=branch.resets + 1,
        resets_in_place=branch.resets_in_place + (branch.commit_id == target.id),
    )
