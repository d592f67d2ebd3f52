# SPDX-License-Identifier: Apache-2.0
"""Forget uncommitted changes of a branch: all of them, those under a prefix, or one object's.

Everything: one compare-and-swap gives the branch a fresh staging token and takes the sealed ones
and the compacted base away. The tokens are noted for the cleaner before (H10). A write that was
acknowledged before is forgotten; one under way finds its token gone, and stages again.

A prefix or an object: one compare-and-swap seals the staging token and notes that under it and all
older ones these keys are forgotten (staging/layers.py); where the compacted base differs from the
head there, it names one that does not. No row is written or taken away: what repeated the head in a
row of its own, a commit might publish over a newer one. What is staged for other keys stays. The
token is sealed even if it holds none of the keys: a write that was decided on what is forgotten may
come to it meanwhile. Tokens that have become many are compacted away first.

A commit under way has sealed tokens and may have scanned them. It would publish what was just
forgotten. So `resets` of the branch is counted up: a committer that sees another number takes these
keys out of its tree, or begins again if its tokens are gone. Either its commit came first and the
reset found nothing, or the reset came first and the commit has nothing of it.
"""

from contextlib import suppress

import msgspec

from lochan.committed.interval import Interval
from lochan.errors import Conflict, LochanError, PredicateFailed, UnknownOutcome
from lochan.kv.table import Stored
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey, StagingToken, new_staging_token
from lochan.model.records import Branch, Forgotten, Repository
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.branch_reads import BranchRead
from lochan.operations.compact import compact
from lochan.operations.compactor import TOKENS
from lochan.operations.lake import Lake
from lochan.operations.view import as_base, is_same_view, tokens_of, tree_under, without_moves
from lochan.refs.notes import note_tokens
from lochan.refs.outcomes import begun
from lochan.staging.layers import layers_of, noted, shown_rows

ATTEMPTS = 100


def reset(lake: Lake, repository: Repository, name: BranchName) -> None:
    """Forget everything that is staged on a branch: it shows its commit.

    Raises: NotFound; Refused; Conflict when others always came first; UnknownOutcome: read, repeat.
    """
    for _ in range(ATTEMPTS):
        stored = lake.branches.fresh(repository, name)
        require_allowed(stored.repository, name, Action.RESET, force=lake.force)
        emptied = msgspec.structs.replace(
            stored.record,
            staging_token=fresh_token(lake, repository, name),
            sealed_tokens=(),
            forgotten=(),
            compacted_base_meta_range_id=MetaRangeId(""),
            resets=stored.record.resets + 1,
            resets_in_place=stored.record.resets_in_place + 1,
        )
        if swap_reset(lake, repository, stored, emptied):
            return
    raise contended(name)


def reset_prefix(lake: Lake, repository: Repository, name: BranchName, prefix: bytes) -> None:
    """Forget what is staged under a prefix; all else stays staged. Raises: as `reset`."""
    if prefix:
        _reset_within(lake, repository, name, Interval.under(prefix))
    else:
        reset(lake, repository, name)


def reset_object(lake: Lake, repository: Repository, name: BranchName, key: ObjectKey) -> None:
    """Forget what is staged for one object. Raises: as `reset`; not for a key that is not there."""
    _reset_within(lake, repository, name, Interval.of(key))


def fresh_token(lake: Lake, repository: Repository, name: BranchName) -> StagingToken:
    """Draw a staging token; for each try of a swap its own, since none may ever come back."""
    return new_staging_token(repository.repository_id, name, lake.environment.new_id())


def swap_reset(lake: Lake, repository: Repository, stored: Stored[Branch], moved: Branch) -> bool:
    """Replace a branch record by one whose `resets` is greater; False: not done, read it again.

    Tokens that the new record does not name are noted first (H10).
    Raises: UnknownOutcome when the answer was lost, and the branch was reset again since (H15).
    """
    before, name = stored.record, moved.branch_id
    gone = [token for token in tokens_of(before) if token not in tokens_of(moved)]
    note_tokens(lake.store, lake.environment, repository, name, gone)
    try:
        lake.tables(repository).branches.set_if(name.encode(), moved, stored.predicate)
    except PredicateFailed:
        return False
    except UnknownOutcome:
        with begun(f"resetting branch {name!r}"):
            current = lake.branches.fresh(repository, name).record
        if current == moved:
            return True
        if current.resets == before.resets:  # it only grows: ours never came, and never will
            return False
        if moved.staging_token == before.staging_token:
            raise
        if moved.staging_token not in tokens_of(current):  # drawn for this swap alone
            raise
    return True


def contended(name: BranchName) -> Conflict:
    """Make the error for a branch that never stood still."""
    message = f"branch {name!r} was changed by others {ATTEMPTS} times; reset it again"
    return Conflict(message, code="contended", branch=name)


def _reset_within(lake: Lake, repository: Repository, name: BranchName, within: Interval) -> None:
    """Make a branch show what its commit holds within an interval of keys."""
    for attempt in range(ATTEMPTS):
        stored = _allowed(lake, repository, name)
        branch = stored.record
        if attempt == 0 and len(branch.sealed_tokens) > TOKENS:
            with suppress(LochanError):  # it is for all who read, and not what was asked for
                compact(lake, repository, name)
            continue
        base = _base_without(lake, repository, branch, within)
        if base == branch.compacted_base_meta_range_id and not _is_staged(lake, branch, within):
            if is_same_view(branch, _allowed(lake, repository, name).record):
                return
            continue
        late = Forgotten(within.start, within.stop, branch.staging_token)
        moved = msgspec.structs.replace(
            branch,
            staging_token=fresh_token(lake, repository, name),
            sealed_tokens=tokens_of(branch),
            forgotten=noted(branch.forgotten, late),
            compacted_base_meta_range_id=base,
            resets=branch.resets + 1,
            resets_in_place=branch.resets_in_place + 1,
        )
        if swap_reset(lake, repository, stored, moved):
            return
    raise contended(name)


def _allowed(lake: Lake, repository: Repository, name: BranchName) -> BranchRead:
    stored = lake.branches.fresh(repository, name)
    require_allowed(stored.repository, name, Action.RESET, force=lake.force)
    return stored


def _is_staged(lake: Lake, branch: Branch, within: Interval) -> bool:
    """Say whether a branch shows any staged row in an interval, even one that changes nothing."""
    for layer in layers_of(branch):
        row = next(shown_rows(lake.staging, layer, within.start), None)
        if row is not None and (within.stop is None or row.key < within.stop):
            return True
    return False


def _base_without(
    lake: Lake, repository: Repository, branch: Branch, within: Interval
) -> MetaRangeId:
    """Name the tree under a branch's staged rows with the head's rows within an interval."""
    base = branch.compacted_base_meta_range_id
    if not base:
        return base
    head = lake.commits.tree(repository, branch.commit_id)
    under = tree_under(lake, repository, branch)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    if not any(len(some) for some in snapshots.diff(head, under, within)):
        return base
    shown = without_moves(lake, repository, branch, snapshots.replace(under, head, [within]))
    return as_base(shown, head)
