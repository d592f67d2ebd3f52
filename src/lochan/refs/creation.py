# SPDX-License-Identifier: Apache-2.0
"""The beginning of a repository (seed 003, step 2, with the repairs H12, H13 and H15).

    1. record `initial`              set_if(None): the second creator hears NotUnique at once
    2. first commit, its clock row
    3. default branch
    4. initial -> active             set_if on our own record

Until 4 nobody can see it. A creator that dies leaves an `initial` record, which reads as not found
and is given up after two minutes: made `deleting` by whoever meets it, and cleaned. A creator that
is only slow loses the swap of 4 then; its late rows are noted for the cleaner, and it gets an
error.

A creator that meets the remains of another (an abandoned `initial`, a `deleting`) first helps them
to their end, then takes the name. An unknown outcome is settled by reading: the record is ours if
it holds our unique identifier.
"""

import msgspec

from lochan.environment import Environment
from lochan.errors import Conflict, LochanError, NotUnique, PredicateFailed, UnknownOutcome
from lochan.kv.store import Store
from lochan.kv.table import Stored
from lochan.model.commit_id import new_commit
from lochan.model.ids import (
    EMPTY_TREE,
    BranchName,
    LineageId,
    RepositoryId,
    StorageNamespace,
    UniqueIdentifier,
    new_staging_token,
)
from lochan.model.instant import from_seconds
from lochan.model.keys import clock_key, partition_of
from lochan.model.records import Branch, Clock, Ordinal, Repository, RepositoryState
from lochan.refs.deletion import end_repository
from lochan.refs.notes import note_deleted
from lochan.refs.outcomes import ATTEMPTS, begun, surely
from lochan.refs.repositories import contended, is_abandoned, is_same
from lochan.refs.tables import RepositoryTables, repositories

FIRST_MESSAGE = "Repository created"


def create_repository(  # noqa: PLR0913 - a repository's facts, each named by the caller
    store: Store,
    environment: Environment,
    repository_id: RepositoryId,
    storage_namespace: StorageNamespace,
    default_branch: BranchName,
    *,
    committer: str = "",
    storage_id: str = "",
    read_only: bool = False,
) -> Repository:
    """Create a repository with its first commit and its default branch.

    Raises: NotUnique; Conflict with code "creation-abandoned" when it took two minutes; Unavailable
    when there is no such repository, though the name may be taken for two minutes; UnknownOutcome.
    """
    initial = Repository(
        repository_id=repository_id,
        storage_namespace=storage_namespace,
        default_branch=default_branch,
        creation_date=from_seconds(environment.now()),
        repository_state=RepositoryState.INITIAL,
        unique_identifier=UniqueIdentifier(environment.new_id()),
        read_only=read_only,
        storage_id=storage_id,
    )
    _claim(store, environment, initial)
    _write_first_commit(store, environment, initial, committer)
    return _activate(store, environment, initial)


def create_bare_repository(
    store: Store,
    environment: Environment,
    repository_id: RepositoryId,
    storage_namespace: StorageNamespace,
    default_branch: BranchName,
    *,
    storage_id: str = "",
    read_only: bool = False,
) -> Repository:
    """Create a repository without commit or branch, to restore a dump into.

    Raises: NotUnique, Unavailable, UnknownOutcome.
    """
    repository = Repository(
        repository_id=repository_id,
        storage_namespace=storage_namespace,
        default_branch=default_branch,
        creation_date=from_seconds(environment.now()),
        unique_identifier=UniqueIdentifier(environment.new_id()),
        read_only=read_only,
        storage_id=storage_id,
    )
    _claim(store, environment, repository)
    return repository


def is_bare(store: Store, repository: Repository) -> bool:
    """Say whether a repository has no branch, commit or tag, so that a dump may be restored."""
    tables = RepositoryTables.of(store, repository)
    named = (tables.branches, tables.commits, tables.tags)
    return all(next(table.scan(), None) is None for table in named)


def _claim(store: Store, environment: Environment, wanted: Repository) -> None:
    """Take the name, after the remains of others have been helped away."""
    table = repositories(store)
    name = wanted.repository_id.encode()
    for _ in range(ATTEMPTS):
        unknown: LochanError | None = None
        try:
            table.set_if(name, wanted, None)
        except PredicateFailed:
            found = table.find(name)
        except UnknownOutcome as error:
            unknown = error
            with begun(f"the creation of repository {wanted.repository_id!r}"):
                found = table.find(name)
        else:
            return
        if found is None:
            continue
        if is_same(found.record, wanted):
            return
        _help_away(store, environment, found, unknown)
    raise contended(wanted.repository_id)


def _help_away(
    store: Store,
    environment: Environment,
    found: Stored[Repository],
    cause: LochanError | None,
) -> None:
    state = found.record.repository_state
    if state is RepositoryState.DELETING or is_abandoned(found.record, environment):
        end_repository(store, environment, found)
        return
    repository_id = found.record.repository_id
    message = f"repository {repository_id!r} exists or is being created; choose another name"
    raise NotUnique(message, repository=repository_id) from cause


def _write_first_commit(
    store: Store, environment: Environment, repository: Repository, committer: str
) -> None:
    # Nobody else writes to this partition before the record is active, so these may be plain sets.
    lineage = LineageId(environment.new_id())
    name = repository.default_branch
    token = new_staging_token(repository.repository_id, name, environment.new_id())
    commit = new_commit(
        committer=committer,
        message=FIRST_MESSAGE,
        creation_date=repository.creation_date,
        meta_range_id=EMPTY_TREE,
        clocks=(Clock(lineage, 0),),
    )
    branch = Branch(
        branch_id=name,
        commit_id=commit.id,
        staging_token=token,
        lineage=lineage,
        ordinals=(Ordinal(lineage, 0),),
    )
    tables = RepositoryTables.of(store, repository)
    row = clock_key(lineage, 0)
    surely(lambda: tables.commits.set(commit.id.encode(), commit))
    surely(lambda: store.set(partition_of(repository), row, commit.id.encode()))
    surely(lambda: tables.branches.set(name.encode(), branch))


def _activate(store: Store, environment: Environment, initial: Repository) -> Repository:
    """Make our own `initial` record active, unless it has been given up."""
    table = repositories(store)
    name = initial.repository_id.encode()
    active = msgspec.structs.replace(initial, repository_state=RepositoryState.ACTIVE)
    unknown: LochanError | None = None
    for _ in range(ATTEMPTS):
        with begun(f"the creation of repository {initial.repository_id!r}"):
            stored = table.find(name)
        if stored is None or not is_same(stored.record, initial):
            break
        state = stored.record.repository_state
        if state is RepositoryState.ACTIVE:
            return stored.record
        if state is RepositoryState.DELETING or is_abandoned(stored.record, environment):
            end_repository(store, environment, stored)
            break
        try:
            table.set_if(name, active, stored.predicate)
        except PredicateFailed:
            continue
        except UnknownOutcome as error:
            unknown = error
        else:
            return active
    else:
        raise contended(initial.repository_id)
    note_deleted(store, environment, initial)  # our rows may have come after the cleaner
    if unknown is not None:  # it may have been active, and deleted by somebody who saw it
        raise unknown
    message = f"creating repository {initial.repository_id!r} took too long and was given up; again"
    raise Conflict(message, code="creation-abandoned", repository=initial.repository_id)
