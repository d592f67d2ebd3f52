# SPDX-License-Identifier: Apache-2.0
"""A lake that is made once and copied for each run: two repositories, and something of everything.

main    clean, two commits; a started commit goes behind it
dev     parted from main; rows staged, tombstones too, and rows sealed by a commit that died
old     a branch that nobody needs; v1 a tag
spare   a bare repository, and a dump to restore into it
rules   one that protects kept-*, days of retention; and metadata of the repository
far     a store of others, with objects to import
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from lochan.committed import Files, Snapshots
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.ids import (
    BranchName,
    ObjectKey,
    OpenCommitId,
    RepositoryId,
    StorageNamespace,
    TagName,
)
from lochan.model.records import Commit, Repository
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.store import ObjectStore
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.create_repository import create_repository
from lochan.operations.delete_objects import delete_objects
from lochan.operations.dump_refs import dump_refs
from lochan.operations.lake import Lake, Storage
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.finish_commit import finish_commit
from lochan.operations.open_commits.put_file import put_file
from lochan.operations.open_commits.start_commit import start_commit
from lochan.operations.protection import add_branch_protection
from lochan.operations.put_object import put_object
from lochan.operations.refs_dump import RefsDump
from lochan.operations.repository_metadata import set_repository_metadata
from lochan.operations.retention import set_gc_rules
from lochan.operations.seal import seal
from lochan.operations.tags import create_tag
from lochan.refs.creation import create_bare_repository
from support.lake_ground import CUTS, QuietWorld

MAIN, DEV, OLD = BranchName("main"), BranchName("dev"), BranchName("old")
FILES = BranchName("files")
READINGS, SPARE, OTHER = (RepositoryId(name) for name in ("readings", "spare", "other"))
NAMESPACE, FAR = StorageNamespace("mem://readings"), StorageNamespace("mem://far")
V1 = TagName("v1")
KEPT = "kept-*"
PAUSE_S = 900.0  # between a failure and the next try: what is given up by then, is

Wrap = Callable[[ObjectStore], ObjectStore]


@dataclass(frozen=True, slots=True)
class Known:
    """What whoever works on the lake knows of it."""

    repository: Repository
    spare: Repository
    dump: RefsDump
    first: Commit
    on_main: Commit
    on_dev: Commit
    opened: OpenCommitId
    born: OpenCommitId
    grown: tuple[Commit, Commit]
    merged: Commit


@dataclass(frozen=True, slots=True)
class Place:
    """One process: its lake over some stores, and what it knows."""

    world: QuietWorld
    store: Store
    kept: MemoryStore
    objects: dict[StorageNamespace, MemoryObjects]
    lake: Lake
    known: Known
    target: MemoryStore  # for a copy of the lake

    @property
    def where(self) -> tuple[Lake, Repository]:
        return self.lake, self.known.repository

    def again(self, store: Store | None = None, wrap: Wrap | None = None) -> "Place":
        """Begin a new process over the same stores, which may fail."""
        through = self.kept if store is None else store
        lake = open_lake(self.world, through, self.objects, wrap)
        return replace(self, store=through, lake=lake)

    def copy(self) -> "Place":
        """Copy everything, for a later time."""
        world = QuietWorld()
        world.begin_at(self.world.time_s + PAUSE_S, ids=1_000_000)
        kept = MemoryStore(world)
        for partition, rows in self.kept._partitions.items():
            for key, value in rows.values.items():
                kept.set(partition, key, value)
        objects = {name: copied(found, world) for name, found in self.objects.items()}
        lake = open_lake(world, kept, objects)
        return Place(world, kept, kept, objects, lake, self.known, MemoryStore(world))


def copied(objects: MemoryObjects, world: QuietWorld) -> MemoryObjects:
    new = MemoryObjects(world)
    assert new._shared is not None
    assert objects._shared is not None
    new._shared.objects.update(objects._shared.objects)
    new._shared.order = None
    return new


def open_lake(
    world: QuietWorld,
    store: Store,
    objects: dict[StorageNamespace, MemoryObjects],
    wrap: Wrap | None = None,
) -> Lake:
    """Open a lake whose namespaces have a store each; other ones get an empty one."""
    found: dict[StorageNamespace, Storage] = {}

    def storage(namespace: StorageNamespace) -> Storage:
        if namespace not in found:
            kept: ObjectStore = objects.setdefault(namespace, MemoryObjects(world))
            kept = wrap(kept) if wrap else kept
            snapshots = Snapshots(Files(kept, world), world, cuts=CUTS)
            found[namespace] = Storage(kept, AddressSource(world), snapshots)
        return found[namespace]

    return Lake.of(store, world, storage)


def make_ground() -> Place:
    """Make the lake that the module describes."""
    world = QuietWorld()
    store, objects = MemoryStore(world), dict[StorageNamespace, MemoryObjects]()
    lake = open_lake(world, store, objects)
    repository = create_repository(lake, READINGS, NAMESPACE, MAIN, committer="ann")

    def put(branch: BranchName, **bodies: str) -> None:
        for key, body in bodies.items():
            put_object(lake, repository, branch, ObjectKey(f"d/{key}".encode()), body.encode())

    def record(branch: BranchName, message: str) -> Commit:
        world.sleep(10)
        return commit(lake, repository, branch, CommitRequest("ann", message))

    def append(branch: BranchName, path: bytes, body: bytes) -> Commit:
        opened = start_commit(lake, repository, None, branch, committer="ann").id
        put_file(lake, repository, opened, path, body)
        return finish_commit(lake, repository, opened, message=f"append {body.decode()}")

    put(MAIN, a="1", b="1", c="1", e="1")
    first = record(MAIN, "first")
    create_tag(lake, repository, V1, first)
    for branch in (DEV, OLD, FILES):
        create_branch(lake, repository, branch, first.id)
    put(DEV, b="2", f="2")
    on_dev = record(DEV, "on dev")
    put(MAIN, a="3", g="3")
    on_main = record(MAIN, "on main")
    opened = start_commit(lake, repository, None, MAIN, committer="ann").id
    put_file(lake, repository, opened, b"d/h", b"4")
    put_file(lake, repository, opened, b"d/g", b"4")
    born = start_commit(lake, repository, first.id, "born", committer="ann").id
    put_file(lake, repository, born, b"d/h", b"4")
    grown = append(FILES, b"d/l", b"7"), append(FILES, b"d/l", b"8")
    merged = merge(lake, repository, FILES, on_dev, MergeRequest("ann", "merged"))
    put(DEV, i="5", c="5")
    seal(lake, repository, DEV)
    world.sleep(10)
    put(DEV, j="6", c="6")
    delete_objects(lake, repository, DEV, [ObjectKey(b"d/e")])
    put(OLD, k="7")
    add_branch_protection(lake, repository, KEPT)
    set_gc_rules(lake, repository, 7, {MAIN: 30})
    set_repository_metadata(lake, repository, {"owner": "ann"})
    dump = dump_refs(lake, repository)
    spare = create_bare_repository(store, world, SPARE, NAMESPACE, MAIN)
    lake.storage(FAR).objects.put("raw/x", b"8")
    lake.storage(FAR).objects.put("raw/y", b"8")
    known = Known(repository, spare, dump, first, on_main, on_dev, opened, born, grown, merged)
    return Place(world, store, store, objects, lake, known, MemoryStore(world))
