# SPDX-License-Identifier: Apache-2.0
"""Repositories by name: which of them can be seen (seed 003, step 2).

    record          younger than two minutes      older
    absent          RepositoryNotFound            RepositoryNotFound
    initial         RepositoryNotFound            made deleting, then RepositoryDeleting
    active          the repository                the repository
    deleting        RepositoryDeleting            RepositoryDeleting

An `initial` record belongs to a creator at work, or to one that died. After two minutes everybody
takes it for dead, and says so by compare-and-swap: the creator, if it lives, loses its own swap to
`active`. So a wrong clock can fail a creation, but never undo a finished one (R20).

Nothing is cached: what was deleted is gone with the next call, in every process.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import msgspec

from lochan.environment import Environment
from lochan.errors import (
    Conflict,
    PredicateFailed,
    RepositoryDeleting,
    RepositoryNotFound,
    UnknownOutcome,
)
from lochan.kv.store import Store
from lochan.kv.table import Stored, Table
from lochan.model.codec import decode_repository
from lochan.model.ids import RepositoryId
from lochan.model.instant import NANOSECONDS, from_seconds
from lochan.model.keys import GRAVELER, REPOSITORIES
from lochan.model.records import Repository, RepositoryState
from lochan.refs.outcomes import ATTEMPTS, begun
from lochan.refs.tables import repositories

# How long a creator may take; from this very nanosecond on it is too late.
CREATION_S: Final = 120


def get_repository(
    store: Store, environment: Environment, repository_id: RepositoryId
) -> Repository:
    """Give the active repository of a name.

    Raises: RepositoryNotFound, RepositoryDeleting, Unavailable.
    """
    table = repositories(store)
    for _ in range(ATTEMPTS):
        stored = table.find(repository_id.encode())
        if stored is None:
            raise not_found(repository_id)
        if stored.record.repository_state is RepositoryState.ACTIVE:
            return stored.record
        if stored.record.repository_state is RepositoryState.INITIAL:
            if not is_abandoned(stored.record, environment):
                raise not_found(repository_id)
            if mark_deleting(table, stored) is None:
                continue
        raise RepositoryDeleting(
            f"repository {repository_id!r} is being deleted", repository=repository_id
        )
    raise contended(repository_id)


def list_repositories(store: Store, *, start: str = "", after: str = "") -> Iterator[Repository]:
    """Give the active repositories by name, from `start` on and behind `after`.

    Raises: Unavailable, from any step; the end is never a failure in disguise.
    """
    first = max(start, f"{after}\0" if after else "")
    for key, value in store.scan(GRAVELER, REPOSITORIES + first.encode()):
        if not key.startswith(REPOSITORIES):
            return
        repository = decode_repository(value, where=key.decode())
        if repository.repository_state is RepositoryState.ACTIVE:
            yield repository


def is_abandoned(repository: Repository, environment: Environment) -> bool:
    """Say whether a creation has taken so long that everybody gives it up."""
    if repository.repository_state is not RepositoryState.INITIAL:
        return False
    age = from_seconds(environment.now()) - repository.creation_date
    return age >= CREATION_S * NANOSECONDS


def mark_deleting(
    table: Table[Repository], stored: Stored[Repository]
) -> Stored[Repository] | None:
    """Make one incarnation `deleting`, from the state in which it was read.

    Gives the record as it is then; None when that incarnation has gone, or has gone on to another
    state: an abandoned creation that came to its end after all is none of ours to delete.
    Raises: Unavailable when nothing was changed, UnknownOutcome.
    """
    name = stored.record.repository_id.encode()
    current = stored
    for _ in range(ATTEMPTS):
        if current.record.repository_state is RepositoryState.DELETING:
            return current
        if current.record.repository_state is not stored.record.repository_state:
            return None
        deleting = msgspec.structs.replace(
            current.record, repository_state=RepositoryState.DELETING
        )
        with suppress(PredicateFailed, UnknownOutcome):  # what was lost or won is read below
            table.set_if(name, deleting, current.predicate)
        with begun(f"marking repository {stored.record.repository_id!r} as deleting"):
            found = table.find(name)
        if found is None or not is_same(found.record, stored.record):
            return None
        current = found
    raise contended(stored.record.repository_id)


def is_same(one: Repository, other: Repository) -> bool:
    """Say whether two records are of one incarnation of a repository."""
    return one.unique_identifier == other.unique_identifier


def not_found(repository_id: RepositoryId) -> RepositoryNotFound:
    """Make the error for a name without an active repository."""
    return RepositoryNotFound(f"no repository {repository_id!r}", repository=repository_id)


def contended(repository_id: RepositoryId) -> Conflict:
    """Make the error for a record that never stood still."""
    message = f"the record of repository {repository_id!r} changed {ATTEMPTS} times; try again"
    return Conflict(message, code="contended", repository=repository_id)
