# SPDX-License-Identifier: Apache-2.0
"""A small lake with something of everything: for tests of what must see all of a lake.

Branch main has commits and a merge; dev was merged and went on; a hidden branch; a branch that was
deleted, whose commits stay; a tag; staged rows, and sealed ones that nobody has committed yet; a
commit that was started.
"""

from lochan.committed import Files, Snapshots
from lochan.environment import Environment, RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace, TagName
from lochan.model.records import Commit, Repository, Tag
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake, Storage
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.put_object import put_object
from lochan.operations.seal import seal
from lochan.refs.creation import create_bare_repository, create_repository
from lochan.refs.tags import create_tag
from support.lakes import Stage

NAME, OTHER = RepositoryId("grown"), RepositoryId("restored")
MAIN, DEV, OLD = BranchName("main"), BranchName("dev"), BranchName("old")
SECRET = BranchName("secret")
NAMESPACE = StorageNamespace("mem://grown")


def open_lake(store: Store, world: Environment, storage: Storage | None = None) -> Lake:
    """Open a lake over a store; its one storage is given, or new."""
    if storage is None:
        objects = MemoryObjects(world)
        storage = Storage(objects, AddressSource(world), Snapshots(Files(objects, world), world))
    kept = storage
    return Lake.of(store, world, lambda _: kept)


def grown(store: Store | None = None, world: Environment | None = None) -> Stage:
    """Make the lake that the module describes."""
    environment = world or RealEnvironment()
    lake = open_lake(store or MemoryStore(environment), environment)
    repository = create_repository(lake.store, environment, NAME, NAMESPACE, MAIN, committer="ann")
    stage = Stage(lake, repository, lake.storage(NAMESPACE))
    first = record(stage, MAIN, "a")
    for name in (DEV, OLD, SECRET):
        create_branch(lake, repository, name, first.id, hidden=name == SECRET)
    record(stage, OLD, "old")
    delete_branch(lake, repository, OLD)
    source = record(stage, DEV, "b", "c")
    record(stage, MAIN, "d")
    merge(lake, repository, MAIN, source, MergeRequest("ann", "merged"))
    record(stage, DEV, "e")
    create_tag(lake.tables(repository), Tag(tag_id=TagName("v1"), commit_id=first.id))
    put(stage, DEV, "sealed")
    seal(lake, repository, DEV)
    put(stage, DEV, "staged")
    delete_objects(lake, repository, DEV, [ObjectKey(b"a")])
    started = start_commit(lake, repository, branch=SECRET, committer="ann")
    put_file(lake, repository, started.id, "file", b"a line\n")
    return stage


def put(stage: Stage, branch: BranchName, *keys: str) -> None:
    """Stage objects whose bodies are their keys."""
    for key in keys:
        put_object(stage.lake, stage.repository, branch, ObjectKey(key.encode()), key.encode())


def record(stage: Stage, branch: BranchName, *keys: str) -> Commit:
    """Stage objects and commit them."""
    put(stage, branch, *keys)
    return commit(stage.lake, stage.repository, branch, CommitRequest("ann", f"on {branch}"))


def head(stage: Stage, branch: BranchName) -> Commit:
    """Read the commit that a branch names."""
    tables = stage.lake.tables(stage.repository)
    named = tables.branches.get(branch.encode()).record.commit_id
    return tables.commits.get(named.encode()).record


def bare(stage: Stage, name: RepositoryId = OTHER) -> Repository:
    """Make a bare repository over the same objects."""
    return create_bare_repository(stage.lake.store, stage.lake.environment, name, NAMESPACE, MAIN)
