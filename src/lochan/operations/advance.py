# SPDX-License-Identifier: Apache-2.0
"""Move a branch by a commit that does not come from its own staged writes: merge, revert and such.

The branch must be clean when it begins; what is staged later stays staged. Rows that change nothing
are taken back first: over another head they would be changes. The rest is in `move`.
"""

from contextlib import suppress

from lochan.errors import InvalidInput, PredicateFailed
from lochan.kernel.records import Record
from lochan.model.ids import BranchName
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.allowed import Action
from lochan.operations.lake import Lake
from lochan.operations.move import move
from lochan.operations.request import Make, Request, Said
from lochan.operations.view import committed_tree, tokens_of
from lochan.staging.fold import folded


def advance(
    lake: Lake,
    repository: Repository,
    name: BranchName,
    said: Said,
    make: Make,
    *,
    action: Action,
    allow_dirty: bool = False,
) -> Commit:
    """Publish what `make` makes of the head; it is asked again when the head has moved.

    Raises: InvalidInput (code dirty-branch), Refused, what `make` raises, Conflict when others
    always came first.
    """
    began = lake.branches.fresh(repository, name)
    if not allow_dirty:
        require_clean(lake, repository, began.record)
        _forget_unchanged(lake, repository, began.record)
    wanted = Request(said, began, make, action=action, force=lake.force)
    return move(lake, repository, name, wanted)


def require_clean(lake: Lake, repository: Repository, branch: Branch) -> None:
    """Refuse a branch on which anything is staged that is not committed."""
    if is_dirty(lake, repository, branch):
        raise InvalidInput(
            f"branch {branch.branch_id!r} has uncommitted changes; commit or reset them first",
            code="dirty-branch",
        )


def is_dirty(lake: Lake, repository: Repository, branch: Branch) -> bool:
    """Say whether anything staged differs from what is committed. Raises when a scan fails (H9)."""
    tree = committed_tree(lake, repository, branch)
    if tree != lake.commits.tree(repository, branch.commit_id):
        return True
    snapshots = lake.storage(repository.storage_namespace).snapshots
    return any(
        _identity(snapshots.get(tree, row.key)) != row.identity
        for row in folded(lake.staging, tokens_of(branch))
    )


def _forget_unchanged(lake: Lake, repository: Repository, branch: Branch) -> None:
    """Take back staged rows that only say what the commit says: they would hide the next one.

    A row is removed only as it was read, so a write that came meanwhile stays.
    """
    snapshots = lake.storage(repository.storage_namespace).snapshots
    tree = lake.commits.tree(repository, branch.commit_id)
    for row in lake.staging.scan(branch.staging_token):
        found = lake.staging.find(branch.staging_token, row.key)
        if found is not None and found[0].identity == _identity(snapshots.get(tree, row.key)):
            with suppress(PredicateFailed):
                lake.staging.delete_if(branch.staging_token, row.key, found[1])


def _identity(record: Record | None) -> bytes:
    return b"" if record is None else record.identity
