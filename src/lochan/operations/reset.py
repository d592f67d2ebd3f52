# SPDX-License-Identifier: Apache-2.0
"""Forget uncommitted changes of a branch: all of them, those under a prefix, or one object's.

Everything: one compare-and-swap gives the branch a fresh staging token and takes the sealed ones
and the compacted base away. The tokens are noted for the cleaner before (H10). A write that was
acknowledged before is forgotten; one under way finds its token gone, and stages again.

A prefix or an object: everything staged is sealed and built into a tree, as a compaction would, and
there the head's rows replace all others in question. One compare-and-swap names that tree as the
one under the branch's staged rows and takes the sealed tokens away. So nothing is ever staged that
repeats the head: a commit might seal such a row and publish it over a newer head. Writes that come
after the sealing stay staged, also of these keys.

A commit under way has sealed tokens and may have scanned them. It would publish what was just
forgotten. So `resets` of the branch is counted up: a committer that sees another number begins
again with the tokens that are there then. Either its commit came first and the reset found nothing,
or the reset came first and the commit has nothing of it.
"""

import msgspec

from lochan.committed.interval import Interval
from lochan.errors import Conflict, PredicateFailed, UnknownOutcome
from lochan.kv.table import Stored
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey, StagingToken, new_staging_token
from lochan.model.records import Branch, Repository
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.branch_reads import BranchRead
from lochan.operations.lake import Lake
from lochan.operations.seal import seal
from lochan.operations.staged_tree import build
from lochan.operations.view import as_base, tokens_of
from lochan.refs.notes import note_tokens
from lochan.refs.outcomes import begun

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
            compacted_base_meta_range_id=MetaRangeId(""),
            resets=stored.record.resets + 1,
        )
        if swap_reset(lake, repository, stored, emptied):
            return
    raise contended(name)


def reset_prefix(lake: Lake, repository: Repository, name: BranchName, prefix: bytes) -> None:
    """Forget what is staged under a prefix; all else stays staged. Raises: as `reset`."""
    _restore(lake, repository, name, Interval.under(prefix))


def reset_object(lake: Lake, repository: Repository, name: BranchName, key: ObjectKey) -> None:
    """Forget what is staged for one object. Raises: as `reset`; not for a key that is not there."""
    _restore(lake, repository, name, Interval.of(key))


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


def _restore(lake: Lake, repository: Repository, name: BranchName, within: Interval) -> None:
    """Make a branch show what its commit holds within an interval of keys."""
    _allowed(lake, repository, name)
    seal(lake, repository, name)
    for _ in range(ATTEMPTS):
        stored = _allowed(lake, repository, name)
        sealed = stored.record.sealed_tokens
        if not sealed and not stored.record.compacted_base_meta_range_id:
            return
        tree, current = build(lake, repository, name, stored, sealed)
        if tree is None or current.record.sealed_tokens != sealed:
            continue
        restored = _restored(lake, repository, current.record, tree.id, within)
        if swap_reset(lake, repository, current, restored):
            return
    raise contended(name)


def _allowed(lake: Lake, repository: Repository, name: BranchName) -> BranchRead:
    stored = lake.branches.fresh(repository, name)
    require_allowed(stored.repository, name, Action.RESET, force=lake.force)
    return stored


def _restored(
    lake: Lake, repository: Repository, branch: Branch, tree: MetaRangeId, within: Interval
) -> Branch:
    """Make the record of a branch that shows a tree, but the head's rows within an interval."""
    head = lake.commits.tree(repository, branch.commit_id)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    shown = snapshots.replace(tree, head, [within])
    return msgspec.structs.replace(
        branch,
        sealed_tokens=(),
        compacted_base_meta_range_id=as_base(shown, head),
        resets=branch.resets + 1,
    )
