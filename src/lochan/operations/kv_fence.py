# SPDX-License-Identifier: Apache-2.0
"""Keep writers out of a repository while the last of it is copied, without a lock.

Everybody who changes a repository reads its record before, and once more after a staged write, or
when an open commit was cancelled (`allowed`). So the fence is two steps:

    1. the repository becomes read-only. A staged write that is acknowledged was there before this:
       its writer has read the record since, and found it writable
    2. every branch gets a fresh staging token, by compare-and-swap. A commit, merge or reset under
       way had read the branch before; its own swap now fails, it reads again, and is refused

What holds neither (a tag or branch that is being made) is over when its one write has ended; the
copy waits that long. A caller who insists (`Lake.forcing`) is not kept out.
"""

import msgspec

from lochan.environment import Environment
from lochan.errors import PredicateFailed
from lochan.kv.store import Store
from lochan.model.ids import BranchName, new_staging_token
from lochan.model.records import Branch, Repository, RepositoryState
from lochan.operations.view import tokens_of
from lochan.refs.branches import list_branches
from lochan.refs.notes import note_tokens
from lochan.refs.repositories import is_same
from lochan.refs.tables import RepositoryTables, repositories
from lochan.staging.area import StagingArea

ATTEMPTS = 100


def close_repository(store: Store, environment: Environment, repository: Repository) -> None:
    """Make a repository read-only, and wait for nobody: see the module. Idempotent."""
    set_read_only(store, environment, repository, read_only=True)
    tables = RepositoryTables.of(store, repository)
    for branch in list(list_branches(tables, hidden=True)):
        _rotate(store, environment, repository, branch.branch_id)


def set_read_only(
    store: Store, environment: Environment, repository: Repository, *, read_only: bool
) -> None:
    """Set the flag of one incarnation of a repository, if it is still there and active."""

    def change(current: Repository | None) -> Repository | None:
        if (
            current is None
            or not is_same(current, repository)
            or current.repository_state is not RepositoryState.ACTIVE
        ):
            return current
        return msgspec.structs.replace(current, read_only=read_only)

    repositories(store).update(
        repository.repository_id.encode(),
        change,
        environment,
        landed=lambda now: None if now is None else now.read_only == read_only,
    )


def _rotate(
    store: Store, environment: Environment, repository: Repository, name: BranchName
) -> None:
    """Give a branch a fresh token, so that no swap on an earlier record succeeds."""
    table = RepositoryTables.of(store, repository).branches
    fresh = new_staging_token(repository.repository_id, name, environment.new_id())
    while (stored := table.find(name.encode())) is not None:
        branch = stored.record
        if StagingArea(store).is_empty(branch.staging_token):
            note_tokens(store, environment, repository, name, (branch.staging_token,))
            rotated = msgspec.structs.replace(branch, staging_token=fresh)
        else:
            rotated = _sealed(branch, fresh)
        try:
            table.set_if(name.encode(), rotated, stored.predicate)
        except PredicateFailed:
            continue
        return


def _sealed(branch: Branch, fresh: str) -> Branch:
    return msgspec.structs.replace(branch, staging_token=fresh, sealed_tokens=tokens_of(branch))
