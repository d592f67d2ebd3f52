# SPDX-License-Identifier: Apache-2.0
"""A lake in a folder with pipelines, for engines whose tasks run in other processes.

`texts` is the input repository; pipelines and their outputs are a test's own.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.records import Commit, Repository
from lochan.objects.walk import walk
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.create_repository import create_repository
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.operations.read_entry import read_entry
from lochan.pipelines.jobs.create_job import Creation
from lochan.pipelines.jobs.job_records import get_job
from lochan.pipelines.jobs.pin import output_head, pin_inputs
from lochan.pipelines.jobs.run_job import Beside, run_job
from lochan.pipelines.model.commit_metadata import job_of
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.tables import get_version
from lochan.pipelines.model.work import Engine
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.schedule.scheduler import ready_jobs
from lochan.pipelines.schedule.sweep import sweep
from lochan.pipelines.specs.registry import create_pipeline, load_graph, update_pipeline
from lochan.pipelines.specs.yaml_spec import load_specs
from lochan.refs.log import log
from lochan.refs.repositories import get_repository

MAIN = BranchName("main")
TEXTS = "texts"


@dataclass(frozen=True, slots=True)
class DiskWorld:
    """A lake, and short words for what is done to it."""

    folder: Path
    lake: Lake

    @property
    def kv_url(self) -> str:
        return f"sqlite://{self.folder}/kv.db"

    def namespace(self, repository: str) -> StorageNamespace:
        return StorageNamespace(f"local://{self.folder}/objects/{repository}")

    def repository(self, name: str) -> Repository:
        return get_repository(self.lake.store, self.lake.environment, RepositoryId(name))

    def create(self, text: str, code: str = "") -> None:
        """Make the pipelines of a text."""
        files = {"steps.py": code.encode()} if code else {}
        for spec in load_specs(text, file="pipelines.yaml"):
            create_pipeline(self.lake, spec, files, namespaces=self.namespace)

    def put(
        self,
        files: Mapping[str, str | bytes],
        *,
        gone: Iterable[str] = (),
        branch: str = MAIN,
    ) -> Commit:
        """Commit files to the input."""
        where, to = self.repository(TEXTS), BranchName(branch)
        for key, body in files.items():
            data = body.encode() if isinstance(body, str) else body
            put_object(self.lake, where, to, ObjectKey(key.encode()), data)
        delete_objects(self.lake, where, to, [ObjectKey(key.encode()) for key in gone])
        return commit(self.lake, where, to, CommitRequest("ann", "texts", allow_empty=True))

    def due(self) -> list[str]:
        """Decide what new commits ask for; gives the jobs that are ready."""
        sweep(self.lake, load_graph(self.lake))
        return [job.id for job in ready_jobs(self.lake)]

    def by_hand(self, pipeline: str, key: str = "") -> str:
        """Decide a run that nobody but us asks for."""
        return run_by_hand(self.lake, [pipeline], key=key).jobs[0].job

    def drive(self, engine: Engine, beside: Beside | None = None) -> Job:
        """Drive the one job that is due."""
        [job] = self.due()
        return run_job(self.lake, job, engine, beside)

    def head(self, repository: str) -> Commit:
        where = self.repository(repository)
        record = self.lake.branches.fresh(where, MAIN).record
        return self.lake.tables(where).commits.get(record.commit_id.encode()).record

    def entries(self, repository: str, ref: str = MAIN) -> dict[str, Entry]:
        """Give the entry of every file of a ref."""
        found = list_objects(self.lake, self.repository(repository), ref, amount=1000).items
        records = [item for item in found if isinstance(item, Record)]
        return {item.key.decode(): decode_entry(item.value) for item in records}

    def shown(self, repository: str, ref: str = MAIN) -> dict[str, bytes]:
        """Give the content of every file of a ref."""
        where = self.repository(repository)
        return {key: self._read(where, one) for key, one in self.entries(repository, ref).items()}

    def commits_of(self, job: str, repository: str) -> list[Commit]:
        """Give the commits of a job that its output branch leads to."""
        tables = self.lake.tables(self.repository(repository))
        found = log(tables, self.head(repository).id)
        return [commit for commit in found if job_of(commit) == job]

    def _read(self, where: Repository, entry: Entry) -> bytes:
        with read_entry(self.lake, where, entry) as reading:
            return reading.read()


@contextmanager
def disk_world(folder: Path) -> Iterator[DiskWorld]:
    """Open a lake with an empty input."""
    with open_lake(f"sqlite://{folder}/kv.db", RealEnvironment()) as lake:
        world = DiskWorld(folder, lake)
        create_repository(lake, RepositoryId(TEXTS), world.namespace(TEXTS), MAIN)
        yield world


def update_code(world: DiskWorld, code: str, pipeline: str = "out") -> None:
    """Give a pipeline other code."""
    spec = load_graph(world.lake).node(pipeline).spec
    update_pipeline(world.lake, spec, {"steps.py": code.encode()}, namespaces=world.namespace)


def pinned_run(world: DiskWorld, pipeline: str, parallelism: int) -> Creation:
    """Pin a run that nobody drives, as the seed's CreateJob takes it."""
    decided = run_by_hand(world.lake, [pipeline])
    job = get_job(world.lake.store, decided.jobs[0].job)
    version = get_version(world.lake.store, pipeline, job.version)
    head = output_head(world.lake, job, version.spec)
    pins = pin_inputs(world.lake, job, decided, version.spec)
    pinned = msgspec.structs.replace(job, pins=pins, base=head.id, epoch=1)
    return Creation(pinned, version, world.repository(job.output_repository), parallelism)


def stored(world: DiskWorld, repository: str, prefix: str) -> list[str]:
    """Give the addresses of objects, linked or not."""
    objects = world.lake.storage(world.namespace(repository)).objects
    return [one.address for one in walk(objects, prefix)]
