# SPDX-License-Identifier: Apache-2.0
"""The job protocol beside what it is worth: bare Spark, and looking at everything.

    overhead    a job on local[2], beside a bare mapInArrow that reads the same inputs and writes
                the same files through the same durable driver; a function of about 5 ms
    skipping    a job whose files are all as they were
    publishing  steps 6 to 10 of a job whose files are written
    one change  planning after one file of many has changed, beside a listing of all files

Inputs are real objects where the function reads them. Where only trees are looked at, their entries
are made up. Words on the command line choose rows.
"""

import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

import lochan.spark
from lakes import FOLDER
from lochan.bootstrap.lake import open_lake, prepare_process
from lochan.environment import RealEnvironment
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import BranchName, MetaRangeId, RepositoryId, StorageNamespace
from lochan.model.instant import Instant
from lochan.model.records import Repository, StagedEntry
from lochan.objects.store import IF_ABSENT
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.fragment import write_fragment
from lochan.pipelines.attempts.manifests import FRAGMENT, LOG, attempt_folder
from lochan.pipelines.attempts.places import ProcessPlaces
from lochan.pipelines.jobs.run_job import Beside, Step, run_job
from lochan.pipelines.model.datum import (
    Datum,
    DatumRow,
    DatumState,
    OutputFile,
    datums_hash,
    source_of,
)
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.work import JobTask, Manifest, Shard, Tell
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.specs.registry import create_pipeline, update_pipeline
from lochan.pipelines.specs.yaml_spec import load_specs
from lochan.refs.repositories import get_repository
from lochan.spark.job_engine import SparkEngine
from measure import Row, chosen, is_wanted

COUNT = chosen(10_000, small=40)
MANY = chosen(100_000, small=300)
WORK_S = 0.005
BODY = b"x" * 1000
MAIN = BranchName("main")
WORLD = RealEnvironment()
STEPS = f"""
import time

def make(text, out):
    body = text.read_bytes()
    until = time.perf_counter() + {WORK_S}
    while time.perf_counter() < until:
        pass
    out.write(text.path, body)
"""
PIPELINE = """
pipeline: out
input: {repo: {name: text, repo: texts, branch: main, glob: "/*/*"}}
transform: {files: "steps:make"}
output: {repo: out}
"""


@dataclass(frozen=True, slots=True)
class Ground:
    """A lake with a pipeline and its input."""

    lake: Lake
    folder: Path

    def namespace(self, name: str) -> StorageNamespace:
        """Say where a repository lies."""
        return StorageNamespace(f"local://{self.folder}/objects/{name}")

    def repository(self, name: str) -> Repository:
        """Read a repository."""
        return get_repository(self.lake.store, WORLD, RepositoryId(name))

    def commit(self, rows: Iterable[StagedEntry]) -> None:
        """Commit entries to the input."""
        where = self.repository("texts")
        token = self.lake.branches.fresh(where, MAIN).record.staging_token
        self.lake.staging.set_many(token, rows)
        commit(self.lake, where, MAIN, CommitRequest("bench", "texts"))

    def job(self) -> str:
        """Decide a run."""
        return run_by_hand(self.lake, ["out"]).jobs[0].job


@contextmanager
def new_ground() -> Iterator[Ground]:
    """Make a lake with the pipeline, and an empty input; it goes at the end."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    prepare_process()
    with (
        TemporaryDirectory(prefix="pipelines-", dir=FOLDER) as name,
        open_lake(f"sqlite://{name}/kv.db", WORLD) as lake,
    ):
        ground = Ground(lake, Path(name))
        create_repository(lake, RepositoryId("texts"), ground.namespace("texts"), MAIN)
        [spec] = load_specs(PIPELINE, file="bench.yaml")
        files = {"steps.py": STEPS.encode()}
        create_pipeline(lake, spec, files, namespaces=ground.namespace)
        yield ground


def key_of(number: int) -> bytes:
    """Name a file: a hundred in each folder."""
    return b"%04d/%06d.txt" % (number // 100, number)


def made_up(number: int, version: int = 0) -> StagedEntry:
    """Describe a file that nobody reads."""
    name = sha256(b"%d %d" % (number, version)).hexdigest()
    entry = Entry(
        address=f"data/{name[:20]}/{name[20:40]}",
        last_modified=Instant(0),
        size=len(BODY),
        e_tag=name,
    )
    return StagedEntry(key_of(number), identity(entry), encode_entry(entry))


class MadeUp:
    """An engine whose files are written already: it only says so, in a fragment a shard."""

    cores = 2

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self.ended = 0.0
        self.datums = 0

    def run(self, task: JobTask, shards: Sequence[Shard], _: Tell) -> Iterator[Manifest]:
        """Give a manifest for each shard."""
        objects = self._lake.storage(StorageNamespace(task.output_namespace)).objects
        given = []
        for shard in shards:
            folder = attempt_folder(task.folder, shard.number, WORLD.new_id())
            rows = [self._row(task, shard, datum) for datum in shard.datums]
            write_fragment(objects, f"{folder}/{FRAGMENT}", rows)
            given.append(
                Manifest(
                    shard=shard.number,
                    attempt="made-up",
                    fragment=f"{folder}/{FRAGMENT}",
                    log=f"{folder}/{LOG}",
                    processed=len(rows),
                    failed=0,
                    files=len(rows),
                    bytes=0,
                    milliseconds=0,
                    datums_hash=datums_hash(shard.datums),
                )
            )
            self.datums += len(rows)
        self.ended = time.perf_counter()
        yield from given

    def _row(self, task: JobTask, shard: Shard, datum: Datum) -> DatumRow:
        file = made_up(datum.number, 1)
        return DatumRow(
            id=datum.id,
            hash=datum.hash,
            state=DatumState.PROCESSED,
            sources=tuple(map(source_of, datum.files)),
            outputs=(OutputFile(datum.files[0].key, file.data),),
            number=datum.number,
            job=task.job,
            shard=shard.number,
        )


def driven(ground: Ground, engine: MadeUp) -> tuple[Job, dict[Step, float], float]:
    """Drive a run; gives when each step was reached, and how long all of it took."""
    job, reached = ground.job(), dict[Step, float]()

    def note(step: Step) -> None:
        reached[step] = time.perf_counter()

    began = time.perf_counter()
    done = run_job(ground.lake, job, engine, Beside(reached=note))
    return done, reached, time.perf_counter() - began


def without_spark() -> Iterator[Row]:
    """Measure what is done beside the code: publishing, skipping, planning."""
    with new_ground() as ground:
        ground.commit(map(made_up, range(MANY)))
        engine = MadeUp(ground.lake)
        done, _, _ = driven(ground, engine)
        spent = time.perf_counter() - engine.ended
        assert done.counts.processed == MANY, done.reason
        yield limited(f"publishing {MANY:,} files that are written (steps 6-10)", spent, 5)

        done, _, spent = driven(ground, engine)
        assert done.counts.skipped == MANY, done.reason
        yield limited(f"skipping {MANY:,} datums, nothing committed since", spent, 2)

        yield one_change(ground)
        yield all_looked_at(ground)


def all_looked_at(ground: Ground) -> Row:
    """Skip datums when nothing says that most are as they were: another way to say the input."""
    spec = load_specs(PIPELINE.replace("/*/*", "/*/*.txt"), file="bench.yaml")[0]
    update_pipeline(ground.lake, spec, {"steps.py": STEPS.encode()})
    done, _, spent = driven(ground, MadeUp(ground.lake))
    assert done.counts.skipped == MANY, done
    return limited(f"skipping {MANY:,} datums, each looked at", spent, 2)


def one_change(ground: Ground) -> Row:
    """Change one file, and plan."""
    ground.commit([made_up(MANY // 2, 2)])
    engine = MadeUp(ground.lake)
    done, reached, _ = driven(ground, engine)
    assert (engine.datums, done.counts.skipped) == (1, MANY - 1), done
    planning = reached[Step.PLANNED] - reached[Step.PINNED]
    began = time.perf_counter()
    snapshots = ground.lake.storage(ground.namespace("texts")).snapshots
    tree = MetaRangeId(done.pins[0].meta_range_id)
    listed = [decode_entry(row.value) for row in snapshots.cursor(tree)]
    whole = time.perf_counter() - began
    assert len(listed) == MANY
    return Row(
        f"planning after one change of {MANY:,} files",
        f"{planning * 1000:,.1f} ms",
        f"listing all {whole * 1000:,.0f} ms",
        planning / whole,
        "",
        None,
    )


def limited(what: str, spent: float, most: float) -> Row:
    """Make a row of a time that has a limit."""
    return Row(what, f"{spent:,.2f} s", "", None, f"< {most:g} s", spent < most)


def store_texts(ground: Ground) -> list[str]:
    """Store and commit real files; gives their addresses."""
    storage = ground.lake.storage(ground.namespace("texts"))

    def store(number: int) -> StagedEntry:
        key = key_of(number)
        address = storage.addresses.new(key.decode())
        storage.objects.put(address, BODY, when=IF_ABSENT)
        entry = Entry(
            address=address, last_modified=Instant(0), size=len(BODY), e_tag=f"{number:032x}"
        )
        return StagedEntry(key, identity(entry), encode_entry(entry))

    with WORLD.executor(8) as pool:
        rows = list(pool.map(store, range(COUNT)))
    ground.commit(rows)
    return [decode_entry(row.data).address for row in rows]


def bare(source: str, target: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Do what the function does, and no more: read, compute, write durably under a new name."""
    places = ProcessPlaces(RealEnvironment())
    read, written = places(StorageNamespace(source)), places(StorageNamespace(target))
    for batch in batches:
        made = []
        for address in batch.column(0).to_pylist():
            with read.objects.get(address) as reading:
                body = reading.read()
            until = time.perf_counter() + WORK_S
            while time.perf_counter() < until:
                pass
            made.append(written.addresses.new(address))
            written.objects.put(made[-1], body, when=IF_ABSENT)
        yield pa.RecordBatch.from_pydict({"address": made})


def overhead(spark: SparkSession) -> Row:
    """Run a job, and the bare work beside it, one after the other."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    with new_ground() as ground:
        addresses = store_texts(ground)
        engine = SparkEngine(spark, WORLD)
        work = partial(bare, ground.namespace("texts"), ground.namespace("bare"))

        def run_bare(some: Sequence[str]) -> None:
            frame = spark.createDataFrame([(one,) for one in some], "address string")
            spread = frame.repartition(3 * engine.cores)
            assert len(spread.mapInArrow(work, "address string").collect()) == len(some)

        run_bare(addresses[:100])  # workers are up, on both sides
        began = time.perf_counter()
        run_bare(addresses)
        theirs = time.perf_counter() - began
        job = ground.job()
        began = time.perf_counter()
        done = run_job(ground.lake, job, engine)
        ours = time.perf_counter() - began
        assert done.counts.processed == COUNT, done.reason
    ratio = ours / theirs
    return Row(
        f"job of {COUNT:,} datums, a function of {WORK_S * 1000:g} ms, local[2]",
        f"{ours:.1f} s",
        f"bare mapInArrow {theirs:.1f} s",
        ratio,
        "<= 1.5x",
        ratio <= 1.5,
    )


def main() -> list[Row]:
    """Measure what the command line asks for."""
    rows: list[Row] = []
    if is_wanted("overhead"):
        settings = {"spark.ui.enabled": False, "spark.driver.memory": "2g"}
        spark = lochan.spark.session(None, settings, master="local[2]")
        try:
            rows.append(overhead(spark))
        finally:
            spark.stop()
    if is_wanted("trees"):
        rows += without_spark()
    return rows


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
