# SPDX-License-Identifier: Apache-2.0
"""The end of a repository (seed 003, step 2, with the repairs H12 and H15).

    1. active -> deleting            set_if on the record that was read
    2. note in graveler_deleted      the cleaner will remove what belongs to it
    3. the record goes               delete_if on the `deleting` record; the name is free

Only the incarnation that was read is deleted: whoever wakes up late finds another unique identifier
and has nothing left to do. After step 1 nothing in it can be reached. Whoever meets a record in
`deleting` may finish 2 and 3: a repeated delete, a creator that wants the name, the cleaner.
"""

from contextlib import suppress

from lochan.environment import Environment
from lochan.errors import PredicateFailed, UnknownOutcome
from lochan.kv.store import Store
from lochan.kv.table import Stored
from lochan.model.ids import RepositoryId
from lochan.model.records import Repository, RepositoryState
from lochan.refs.notes import note_deleted
from lochan.refs.outcomes import ATTEMPTS, begun
from lochan.refs.repositories import (
    contended,
    is_abandoned,
    is_same,
    mark_deleting,
    not_found,
)
from lochan.refs.tables import repositories


def delete_repository(store: Store, environment: Environment, repository_id: RepositoryId) -> None:
    """Delete the repository that has the name when this call reads it.

    After an error it may be repeated: it goes on where it stopped, and raises RepositoryNotFound
    once there is nothing left. Raises: RepositoryNotFound, Unavailable when nothing was changed,
    UnknownOutcome.
    """
    stored = repositories(store).find(repository_id.encode())
    if stored is None:
        raise not_found(repository_id)
    created = stored.record.repository_state is not RepositoryState.INITIAL
    if not created and not is_abandoned(stored.record, environment):
        raise not_found(repository_id)
    # None for a created one: somebody else has deleted the incarnation that we read.
    if not end_repository(store, environment, stored) and not created:
        raise not_found(repository_id)


def end_repository(store: Store, environment: Environment, stored: Stored[Repository]) -> bool:
    """Delete one incarnation from the state in which it was read; say whether it was still there.

    Raises: Unavailable when nothing was changed, UnknownOutcome.
    """
    table = repositories(store)
    name = stored.record.repository_id.encode()
    current = mark_deleting(table, stored)
    if current is None:
        return False
    with begun(f"the deletion of repository {stored.record.repository_id!r}"):
        for _ in range(ATTEMPTS):
            note_deleted(store, environment, stored.record)
            with suppress(PredicateFailed, UnknownOutcome):  # what became of it is read below
                table.delete_if(name, current.predicate)
                return True
            found = table.find(name)
            if found is None or not is_same(found.record, stored.record):
                return True
            current = found
    raise contended(stored.record.repository_id)
