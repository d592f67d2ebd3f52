# SPDX-License-Identifier: Apache-2.0
"""A lake in memory with pipelines, whose processes die and begin again, and short words for it.

    photos    the input: small text files
    thumbs    the output of `make`, which writes each file's text in capitals beside its name

A world can be copied, so that each way to fail begins at the same point. The function that is run
is a test's own; what it was called on is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import msgspec

from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.codec import decode_entry
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.records import Commit, Repository
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.create_repository import create_repository
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.operations.read_entry import read_entry
from lochan.pipelines.attempts.checks import CheckTask, require_passed, run_checks
from lochan.pipelines.attempts.function_call import Function
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.after import close_ended
from lochan.pipelines.jobs.job_records import LEASE_S, get_job
from lochan.pipelines.jobs.run_job import Beside, Step, run_job
from lochan.pipelines.model.commit_metadata import job_of
from lochan.pipelines.model.records import Cause, Job, JobSet, Pin
from lochan.pipelines.model.spec import FilesTransform, Output, RepoInput, Spec
from lochan.pipelines.schedule.job_sets import decide
from lochan.pipelines.specs.registry import create_pipeline, load_graph, update_pipeline
from lochan.refs.log import log
from lochan.refs.repositories import get_repository
from support.fault_ground import Wrap, copied, open_lake
from support.lake_ground import QuietWorld

MAIN = BranchName("main")
PHOTOS, THUMBS = RepositoryId("photos"), RepositoryId("thumbs")
CODE = {"steps.py": b"def make(img, out):\n    out.write(img.path, img.read_text().upper())\n"}

ran: Counter[str] = Counter()  # paths that `make` was called on


def make(img: InputFiles, out: Out) -> None:
    """Write a file's text in capitals, under its own path."""
    ran[img.path] += 1
    out.write(img.path, img.read_text().upper())


# What `make` is said to be; tests replace parts of it.
SPEC = Spec(
    pipeline="thumbs",
    input=RepoInput(name="img", repo=PHOTOS, glob="/*"),
    transform=FilesTransform(function="steps:make"),
    output=Output(repo=THUMBS),
)


def thumbs(**said: object) -> Spec:
    """Say the pipeline, with what a test wants otherwise."""
    return msgspec.structs.replace(SPEC, **said)


# What hangs below it.
POSTERS = thumbs(
    pipeline="posters",
    input=RepoInput(name="img", repo=THUMBS, glob="/*"),
    output=Output(repo="posters"),
)


def namespace_of(repository: str) -> StorageNamespace:
    return StorageNamespace(f"mem://{repository}")


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """One process over stores that outlive it, and what people do there."""

    world: QuietWorld
    kept: MemoryStore
    objects: dict[StorageNamespace, MemoryObjects]
    lake: Lake
    function: Function = make
    decided: list[JobSet] = field(default_factory=list)

    @classmethod
    def open(cls, *repositories: str, function: Function = make) -> Self:
        world = QuietWorld()
        kept, objects = MemoryStore(world), dict[StorageNamespace, MemoryObjects]()
        lake = open_lake(world, kept, objects)
        for name in repositories or (PHOTOS, THUMBS):
            create_repository(lake, RepositoryId(name), namespace_of(name), MAIN, committer="ann")
        ran.clear()
        return cls(world, kept, objects, lake, function)

    def again(self, store: Store | None = None, wrap: Wrap | None = None) -> Self:
        """Begin a new process over the same stores, which may fail."""
        through = self.kept if store is None else store
        return replace(self, lake=open_lake(self.world, through, self.objects, wrap))

    def copy(self) -> Self:
        """Copy everything, for a later time."""
        world = QuietWorld()
        world.begin_at(self.world.time_s + 1, ids=1_000_000)
        kept = MemoryStore(world)
        for partition, rows in self.kept._partitions.items():
            for key, value in rows.values.items():
                kept.set(partition, key, value)
        objects = {name: copied(found, world) for name, found in self.objects.items()}
        lake = open_lake(world, kept, objects)
        return replace(
            self, world=world, kept=kept, objects=objects, lake=lake, decided=list(self.decided)
        )

    def repository(self, name: str) -> Repository:
        return get_repository(self.lake.store, self.lake.environment, RepositoryId(name))

    def create(self, spec: Spec = SPEC) -> None:
        create_pipeline(self.lake, spec, CODE, namespaces=namespace_of)

    def update(self, spec: Spec) -> None:
        update_pipeline(self.lake, spec, CODE, namespaces=namespace_of)

    def put(
        self, files: Mapping[str, str], *, gone: Iterable[str] = (), to: str = PHOTOS
    ) -> Commit:
        """Commit files to an input."""
        repository = self.repository(to)
        for key, text in files.items():
            put_object(self.lake, repository, MAIN, ObjectKey(key.encode()), text.encode())
        delete_objects(self.lake, repository, MAIN, [ObjectKey(key.encode()) for key in gone])
        self.world.sleep(2)
        return commit(self.lake, repository, MAIN, CommitRequest("ann", "photos", allow_empty=True))

    def _cause(self, made: Commit) -> Cause:
        found = self.repository(PHOTOS)
        return Cause(
            kind="commit",
            key=str(made.generation),
            repository=PHOTOS,
            unique_identifier=found.unique_identifier,
            branch=MAIN,
            commit=made.id,
        )

    def decide(self, made: Commit, *, branch: str = "", pins: tuple[Pin, ...] = ()) -> JobSet:
        graph = load_graph(self.lake)
        found = decide(self.lake, self._cause(made), graph, branch=branch, pins=pins)
        assert found is not None
        self.decided.append(found)
        return found


@dataclass(frozen=True, slots=True)
class PipelineWorld(PipelineStage):
    """A stage on which jobs are driven and looked at."""

    def engine(self) -> InProcess:
        return InProcess(self.world, self.lake.storage, function=self.function)

    def beside(self, reached: Callable[[Step], None] = lambda _: None) -> Beside:
        def check(task: CheckTask) -> None:
            require_passed(run_checks(task, self.world, self.lake.storage))

        return Beside(check=check, reached=reached)

    def drive(self, job: str, reached: Callable[[Step], None] = lambda _: None) -> Job:
        return run_job(self.lake, job, self.engine(), self.beside(reached))

    def run(self, files: Mapping[str, str], *, gone: Iterable[str] = ()) -> Job:
        """Commit files, decide, and drive the first job of the set."""
        return self.drive(self.decide(self.put(files, gone=gone)).jobs[0].job)

    def running(self, function: Function) -> Self:
        """Run another function."""
        return replace(self, function=function)

    def drive_at_last(self, job: str) -> Job:
        """Drive a job whose driver died, when its lease has run out; it may have ended."""
        self.world.sleep(LEASE_S + 1)
        close_ended(self.lake)
        found = get_job(self.lake.store, job)
        return found if found.state.is_end else self.drive(job)

    def shown(self, repository: str = THUMBS, ref: str = MAIN) -> dict[str, str]:
        """Give the text of every file of a ref."""
        where, found = self.repository(repository), {}
        for item in list_objects(self.lake, where, ref).items:
            assert isinstance(item, Record)
            with read_entry(self.lake, where, decode_entry(item.value)) as reading:
                found[item.key.decode()] = reading.read().decode()
        return found

    def head(self, repository: str = THUMBS, branch: str = MAIN) -> Commit:
        where = self.repository(repository)
        record = self.lake.branches.fresh(where, BranchName(branch)).record
        return self.lake.tables(where).commits.get(record.commit_id.encode()).record

    def commits_of(self, job: str, repository: str = THUMBS) -> list[Commit]:
        """Give the commits of a job that its output branch leads to."""
        tables = self.lake.tables(self.repository(repository))
        head = self.head(repository)
        return [commit for commit in log(tables, head.id) if job_of(commit) == job]
