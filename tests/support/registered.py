# SPDX-License-Identifier: Apache-2.0
"""A lake in memory with one repository, and short words for pipelines that are made in it."""

from dataclasses import dataclass

import msgspec

from lochan.kv.drivers.memory import MemoryStore
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.records import Repository
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.pipelines.model.records import PIPELINES
from lochan.pipelines.model.spec import FilesTransform, Output, RepoInput, Spec
from lochan.pipelines.specs.registry import create_pipeline, update_pipeline
from lochan.refs.repositories import get_repository
from support.fault_ground import open_lake
from support.lake_ground import QuietWorld

MAIN = BranchName("main")
NAME = RepositoryId("readings")
FILES = {"steps.py": b"def make(files, out):\n    pass\n", "notes.txt": b"of no use"}
READS = RepoInput(name="files", repo=NAME, glob="/*")
SPEC = Spec(
    pipeline="counts",
    input=READS,
    transform=FilesTransform(function="steps:make"),
    output=Output(repo="counts"),
)


def somewhere(name: RepositoryId) -> StorageNamespace:
    """Say where a repository lies."""
    return StorageNamespace(f"mem://{name}")


@dataclass(frozen=True, slots=True)
class Stage:
    """A lake with one repository."""

    world: QuietWorld
    store: MemoryStore
    objects: dict[StorageNamespace, MemoryObjects]
    lake: Lake

    @property
    def repository(self) -> Repository:
        """Give the repository as it is now."""
        return repository(self.lake, NAME)


def open_stage() -> Stage:
    """Open a lake."""
    world, objects = QuietWorld(), dict[StorageNamespace, MemoryObjects]()
    store = MemoryStore(world)
    lake = open_lake(world, store, objects)
    create_repository(lake, NAME, somewhere(NAME), MAIN)
    return Stage(world, store, objects, lake)


def changed(**fields: object) -> Spec:
    """Say the pipeline with some fields otherwise."""
    return msgspec.structs.replace(SPEC, **fields)


def named(name: str, reads: str, writes: str = "") -> Spec:
    """Say a pipeline that reads one repository and writes another."""
    source = RepoInput(name="files", repo=reads)
    return changed(pipeline=name, input=source, output=Output(repo=writes or name))


def made(stage: Stage, spec: Spec = SPEC, files: dict[str, bytes] = FILES) -> str:
    """Make a pipeline; gives its version."""
    return create_pipeline(stage.lake, spec, files, namespaces=somewhere).version


def updated(stage: Stage, spec: Spec = SPEC, files: dict[str, bytes] = FILES) -> str:
    """Update a pipeline; gives its version."""
    return update_pipeline(stage.lake, spec, files, namespaces=somewhere).version


def repository(lake: Lake, name: str = "counts") -> Repository:
    """Give a repository as it is now."""
    return get_repository(lake.store, lake.environment, RepositoryId(name))


def rows(lake: Lake) -> dict[bytes, bytes]:
    """Give all that is stored of pipelines."""
    return dict(lake.store.scan(PIPELINES, b""))


def put(lake: Lake, name: str = "counts", branch: str = "main") -> None:
    """Write an object."""
    put_object(lake, repository(lake, name), BranchName(branch), ObjectKey(b"a"), b"1")
