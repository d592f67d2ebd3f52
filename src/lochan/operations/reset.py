# SPDX-License-Identifier: Apache-2.0
"""Forget uncommitted changes of a branch: all of them, those under a prefix, or one object's.

Everything: one compare-and-swap gives the branch a fresh staging token and takes the sealed ones
and the compacted base away. The tokens are noted for the cleaner before (H10). A write that was
acknowledged before is forgotten; one under way finds its token gone, and stages again.

A prefix or an object: what the commit holds is staged over what was staged: the committed row, or a
tombstone where the commit has none. Such rows are no change (G8). They are written blindly: what a
sealed token holds is never a reason to write nothing, and the branch is read again afterwards (H4).
If its head moved meanwhile, they are written anew, as the new commit has them. Of a write of the
same key at the same time, one of the two comes last and stands.

A commit under way has sealed tokens and may have scanned them. It would publish what was just
forgotten. So `resets` of the branch is counted up whenever sealed tokens are concerned: a committer
that sees another number begins again with the tokens that are there then. Either its commit came
first and the reset found nothing, or the reset came first and the commit has nothing of it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice, takewhile

import msgspec

from lochan.committed.interval import Interval
from lochan.errors import Conflict, PredicateFailed, UnknownOutcome
from lochan.kv.table import Stored
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey, StagingToken, new_staging_token
from lochan.model.records import Branch, Repository, StagedEntry
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.lake import Lake
from lochan.operations.stage import stage_rows
from lochan.operations.view import tokens_of, tree_under
from lochan.refs.notes import note_tokens
from lochan.refs.outcomes import begun
from lochan.staging.fold import folded

ATTEMPTS = 100
_CHUNK_ROWS = 1000

# Names the keys that are staged, or that the compacted base changes, on a branch.
Touched = Callable[[Branch], Iterable[bytes]]


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
    """Forget what is staged under a prefix; all else stays staged.

    When it fails some keys may have been reset. Raises: as `reset`.
    """
    _restore(lake, repository, name, partial(_touched, lake, repository, prefix))


def reset_object(lake: Lake, repository: Repository, name: BranchName, key: ObjectKey) -> None:
    """Forget what is staged for one object. Raises: as `reset`; not for a key that is not there."""
    _restore(lake, repository, name, lambda _: [key])


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


def _restore(lake: Lake, repository: Repository, name: BranchName, touched: Touched) -> None:
    """Stage what the commit holds for some keys, until the commit was the same to the end."""
    with ExitStack() as story:
        for _ in range(ATTEMPTS):
            stored = lake.branches.fresh(repository, name)
            require_allowed(stored.repository, name, Action.RESET, force=lake.force)
            tree = lake.commits.tree(repository, stored.record.commit_id)
            written = False
            for keys in _chunks(touched(stored.record)):
                rows = _committed(lake, repository, tree, keys)
                stage_rows(lake, repository, name, rows)
                if not written:
                    story.enter_context(begun(f"resetting keys of branch {name!r}"))
                written = True
            if _stood(lake, repository, stored.record, written=written):
                return
    raise contended(name)


def _touched(lake: Lake, repository: Repository, prefix: bytes, branch: Branch) -> Iterator[bytes]:
    """Name the keys under a prefix that may differ from the commit."""
    staged = (row.key for row in folded(lake.staging, tokens_of(branch), prefix))
    under = takewhile(lambda key: key.startswith(prefix), staged)
    tree = lake.commits.tree(repository, branch.commit_id)
    base = tree_under(lake, repository, branch)
    if base == tree:
        return under
    snapshots = lake.storage(repository.storage_namespace).snapshots
    differences = snapshots.diff(tree, base, Interval.under(prefix))
    return chain(under, (change.key for some in differences for change in some))


def _chunks(keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    source = iter(keys)
    while chunk := list(islice(source, _CHUNK_ROWS)):
        yield chunk


def _committed(
    lake: Lake, repository: Repository, tree: MetaRangeId, keys: list[bytes]
) -> list[StagedEntry]:
    """Give the rows that make keys show what a tree holds; an absent one has no identity."""
    found = lake.storage(repository.storage_namespace).snapshots.get_many(tree, keys)
    return [StagedEntry(row.key, row.identity, row.value) for row in found]


def _stood(lake: Lake, repository: Repository, before: Branch, *, written: bool) -> bool:
    """Say whether a branch was the same until after the writes, and hold off commits under way.

    Tokens whose rows went while they were scanned were committed or compacted, which shows here, or
    reset as well.
    """
    name = before.branch_id
    stored = lake.branches.fresh(repository, name)
    now = stored.record
    if now.commit_id != before.commit_id:
        return False
    if now.compacted_base_meta_range_id != before.compacted_base_meta_range_id:
        return False
    if not written or not now.sealed_tokens:
        return True
    sealed = msgspec.structs.replace(
        now,
        staging_token=fresh_token(lake, repository, name),
        sealed_tokens=tokens_of(now),
        resets=now.resets + 1,
    )
    return swap_reset(lake, repository, stored, sealed)
