# SPDX-License-Identifier: Apache-2.0
"""Files as tasks of Spark: the tree of any other engine, and what fails or is not wanted ends."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.errors import Unavailable
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.jobs.create_job import create_job
from lochan.pipelines.jobs.job_records import ask_kill
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.work import JobTask, Manifest, Progress, Shard, Tell
from lochan.pipelines.schedule.scheduler import ready_jobs
from lochan.refs.branches import list_branches
from lochan.spark.job_engine import SparkEngine
from support.pipelines_on_disk import DiskWorld, disk_world, pinned_run
from support.refusing_engine import Refusing

STEPS = """
import os, time

def make(text, out):
    out.write(text.path, text.read_text().upper())
    out.write("sizes/" + text.path, str(len(text.read_bytes())))

def fail(text, out):
    open(text.read_text() + text.path.replace("/", "-"), "w").close()
    if text.path == "0/00":
        raise ValueError("no such word")
    time.sleep(1)

def wait(text, out):
    open(text.read_text(), "w").close()
    time.sleep(300)

def vanish(text, out):
    os._exit(3)
"""
FILES = {f"{number % 7}/{number:02}": f"text {number} " * (number % 5) for number in range(70)}


class Later(RealEnvironment):
    """The same world, when a pause is over."""

    def now(self) -> float:
        return super().now() + 60


class Heard(SparkEngine):
    """Lets somebody hear how far the engine is, before the job does."""

    def __init__(self, spark: SparkSession, hear: Callable[[Progress], object]) -> None:
        super().__init__(spark, RealEnvironment())
        self._hear = hear

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        def told(progress: Progress) -> None:
            self._hear(progress)
            tell(progress)

        return super().run(task, shards, told)


def pipeline(name: str, function: str = "make", shards: int = 0) -> str:
    return f"""
pipeline: {name}
input: {{repo: {{name: text, repo: texts, branch: main, glob: "/*/*"}}}}
transform: {{files: "steps:{function}"}}
output: {{repo: {name}}}
shards: {shards}
datum: {{tries: 1}}
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[DiskWorld]:
    with disk_world(tmp_path) as opened:
        yield opened


@pytest.fixture
def engine(spark: SparkSession) -> SparkEngine:
    return SparkEngine(spark, RealEnvironment())


def active_stages(spark: SparkSession) -> int:
    return len(spark.sparkContext.statusTracker().getActiveStageIds())


def test_pach_J5_any_number_of_shards_gives_the_tree_of_one_process(
    world: DiskWorld, engine: SparkEngine
) -> None:
    world.create(pipeline("here"), STEPS)
    for count in (1, 2, 7, 64):
        world.create(pipeline(f"out{count}", shards=count), STEPS)
    world.put(FILES)
    run_job(world.lake, world.by_hand("here"), InProcess(RealEnvironment(), world.lake.storage))
    expected = world.shown("here")

    for count in (1, 2, 7, 64):
        done = run_job(world.lake, world.by_hand(f"out{count}"), engine)
        assert (done.state, done.progress.shards_done) == (JobState.SUCCESS, count)
        assert world.shown(f"out{count}") == expected

    assert len(expected) == 140


def test_a_second_run_asks_for_what_has_changed_alone(
    world: DiskWorld, engine: SparkEngine
) -> None:
    world.create(pipeline("caps"), STEPS)
    world.put(FILES)
    world.drive(engine)
    before = world.head("caps").id

    again = run_job(world.lake, world.by_hand("caps"), Refusing())
    assert (again.state, again.counts.skipped) == (JobState.SKIPPED, 70)
    assert world.head("caps").id == before

    world.put({"0/00": "other"}, gone=["1/01"])
    done = world.drive(engine)
    assert (done.counts.processed, done.counts.gone, done.progress.shards) == (1, 1, 1)
    assert world.shown("caps")["0/00"] == b"OTHER"
    assert "1/01" not in world.shown("caps")


def test_pach_J4_rel_P4_a_datum_that_fails_ends_the_job_before_its_turn_comes_for_others(
    world: DiskWorld, spark: SparkSession, engine: SparkEngine, tmp_path: Path
) -> None:
    world.create(pipeline("caps", "fail", shards=70), STEPS)
    world.put(dict.fromkeys(FILES, f"{tmp_path}/ran-"))
    before = world.head("caps").id

    done = world.drive(engine)

    assert done.state is JobState.FAILURE
    assert "0/00" in done.reason
    assert "ValueError: no such word" in done.reason
    assert world.head("caps").id == before
    assert len(list(tmp_path.glob("ran-*"))) < 70
    assert active_stages(spark) == 0


def test_rel_P4_a_job_that_is_killed_ends_what_spark_is_doing(
    world: DiskWorld, spark: SparkSession, tmp_path: Path
) -> None:
    world.create(pipeline("caps", "wait"), STEPS)
    started = tmp_path / "started"
    world.put({"0/00": str(started)})
    [job] = world.due()

    def kill(_: Progress) -> None:
        if started.exists():
            ask_kill(world.lake, job)

    done = run_job(world.lake, job, Heard(spark, kill))

    assert done.state is JobState.KILLED
    assert world.commits_of(job, "caps") == []
    assert active_stages(spark) == 0


def test_a_worker_that_dies_is_no_fault_of_the_datum_and_leaves_the_job_open(
    world: DiskWorld, engine: SparkEngine
) -> None:
    world.create(pipeline("caps", "vanish"), STEPS)
    world.put({"0/00": "x"})
    [job] = world.due()

    with pytest.raises(Unavailable, match="Spark gave up"):
        run_job(world.lake, job, engine)

    assert world.due() == []  # free for the next driver, after a pause
    with open_lake(world.kv_url, Later()) as lake:
        assert [each.id for each in ready_jobs(lake)] == [job]


def test_progress_tells_of_shards_datums_bytes_and_tasks(
    world: DiskWorld, spark: SparkSession
) -> None:
    world.create(pipeline("caps", shards=4), STEPS)
    world.put(FILES)
    heard: list[Progress] = []

    done = world.drive(Heard(spark, heard.append))

    assert {each.shards for each in heard} == {4}
    assert [each.datums_done for each in heard] == sorted(each.datums_done for each in heard)
    assert (heard[-1].shards_done, heard[-1].datums_done) == (4, 70)
    assert heard[-1].bytes == sum(map(len, world.shown("caps").values()))
    assert done.progress.datums_done == 70


def test_pach_J1_pach_J3_the_shards_of_the_seeds_create_job_are_tasks_too(
    world: DiskWorld, engine: SparkEngine
) -> None:
    world.create(pipeline("light", shards=7), STEPS)
    world.create(pipeline("seed"), STEPS)
    world.put(FILES)
    run_job(world.lake, world.by_hand("light"), engine)
    before = world.head("seed").id

    made = create_job(world.lake, pinned_run(world, "seed", 7), engine)

    assert made.parents == (before,)
    assert world.head("seed").id == made.id
    assert world.shown("seed") == world.shown("light")
    tables = world.lake.tables(world.repository("seed"))
    assert [found.branch_id for found in list_branches(tables, hidden=True)] == ["main"]
