# SPDX-License-Identifier: Apache-2.0
"""A whole lake in memory, with one repository and its branch main, for tests of stories."""

from dataclasses import dataclass

from lochan.committed import Cuts, Files, Snapshots
from lochan.environment import Environment, RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
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
from lochan.model.records import Branch, Clock, Ordinal, Repository, RepositoryState
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.lake import Lake, Storage
from lochan.refs.tables import RepositoryTables, repositories

MAIN = BranchName("main")
NAME = RepositoryId("readings")


@dataclass(frozen=True, slots=True)
class Stage:
    """What a test of a story stands on."""

    lake: Lake
    repository: Repository
    storage: Storage


def open_stage(
    store: Store | None = None,
    environment: Environment | None = None,
    *,
    cuts: Cuts | None = None,
) -> Stage:
    """Open a lake over a store, with a fresh repository in it."""
    world = environment or RealEnvironment()
    kept = store or MemoryStore(world)
    namespace = StorageNamespace(f"mem://{world.new_id()}")
    objects = MemoryObjects.open(namespace, world)
    snapshots = Snapshots(Files(objects, world), world, cuts=cuts)
    storage = Storage(objects, AddressSource(world), snapshots)
    repository = add_repository(kept, world, namespace)
    return Stage(Lake.of(kept, world, lambda _: storage), repository, storage)


def add_repository(store: Store, world: Environment, namespace: StorageNamespace) -> Repository:
    """Write the records of an active repository whose branch main has an empty first commit."""
    now = from_seconds(world.now())
    repository = Repository(
        repository_id=NAME,
        storage_namespace=namespace,
        default_branch=MAIN,
        creation_date=now,
        repository_state=RepositoryState.ACTIVE,
        unique_identifier=UniqueIdentifier(world.new_id()),
    )
    lineage = LineageId(world.new_id())
    first = new_commit(
        committer="",
        message="Repository created",
        creation_date=now,
        meta_range_id=EMPTY_TREE,
        clocks=(Clock(lineage, 0),),
    )
    tables = RepositoryTables.of(store, repository)
    tables.commits.set(first.id.encode(), first)
    token = new_staging_token(NAME, MAIN, world.new_id())
    branch = Branch(
        branch_id=MAIN,
        commit_id=first.id,
        staging_token=token,
        lineage=lineage,
        ordinals=(Ordinal(lineage, 0),),
    )
    tables.branches.set(MAIN.encode(), branch)
    repositories(store).set(NAME.encode(), repository)
    return repository
