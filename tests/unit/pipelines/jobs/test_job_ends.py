# SPDX-License-Identifier: Apache-2.0
"""How jobs end that publish nothing, and what is left of them: nothing that anybody sees."""

from dataclasses import replace

import msgspec
import pytest

from lochan.errors import NotFound, Unavailable
from lochan.kv.read import scan_prefix
from lochan.objects.walk import walk
from lochan.operations.gc.held import hold, holds
from lochan.pipelines.attempts.function_call import Function
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.after import clear_holds, close_ended
from lochan.pipelines.jobs.job_records import LEASE_S, ask_kill, claim, get_job, open_jobs
from lochan.pipelines.jobs.run_job import Step, most_failed, run_job
from lochan.pipelines.jobs.sweep_work import sweep_work
from lochan.pipelines.model.records import PIPELINES, JobState
from lochan.pipelines.model.spec import (
    Check,
    DatumRules,
    Egress,
    JobRules,
)
from lochan.pipelines.model.tables import PipelineTables
from lochan.pipelines.specs.registry import delete_pipeline, update_pipeline
from support.pipeline_world import POSTERS, THUMBS, PipelineWorld, ran, thumbs


@pytest.fixture
def world() -> PipelineWorld:
    world = PipelineWorld.open()
    world.create()
    return world


def failing(path: str) -> Function:
    """Give a function that fails on one file."""

    def make(img: InputFiles, out: Out) -> None:
        if img.path == path:
            raise ValueError("no picture")
        out.write(img.path, img.read_text().upper())

    return make


@pytest.mark.parametrize("restarts", [0, 2])
def test_pach_J4_rel_P4_a_failed_shard_leaves_the_branch_unchanged(
    world: PipelineWorld, restarts: int
) -> None:
    world.update(thumbs(shards=3, datum=DatumRules(tries=1), job=JobRules(restarts=restarts)))
    world.run({"a": "one"})
    before = world.head()
    failed = world.running(failing("x")).run({"x": "?", "y": "!"})
    assert failed.state is JobState.FAILURE
    assert "no picture" in failed.reason
    assert world.head() == before
    assert world.shown() == {"a": "ONE"}


def test_a_quarantined_datum_is_left_out_told_of_and_tried_by_the_next_job(
    world: PipelineWorld,
) -> None:
    world.update(thumbs(datum=DatumRules(tries=1, on_error="quarantine")))
    decided = world.decide(world.put({"a": "one", "x": "?"}))
    job = world.running(failing("x")).drive(decided.jobs[0].job)
    assert (job.state, job.counts.failed) == (JobState.SUCCESS, 1)
    assert world.shown() == {"a": "ONE"}
    again = world.run({"b": "two"})
    assert (again.counts.processed, again.counts.failed) == (2, 0)
    assert world.shown() == {"a": "ONE", "b": "TWO", "x": "?"}


def test_too_many_quarantined_datums_fail_the_job(world: PipelineWorld) -> None:
    rules = DatumRules(tries=1, on_error="quarantine")
    world.update(thumbs(datum=rules, job=JobRules(max_failed="40%")))
    decided = world.decide(world.put({"a": "one", "x": "?"}))
    job = world.running(failing("x")).drive(decided.jobs[0].job)
    assert job.state is JobState.FAILURE
    assert "1 of 2 datums failed" in job.reason
    assert world.shown() == {}


def test_a_share_and_a_number_of_failed_datums_are_told_apart() -> None:
    assert (most_failed("1%", 300), most_failed("7", 300)) == (3, 7)


def test_a_check_that_fails_publishes_nothing(world: PipelineWorld) -> None:
    check = Check(function="steps:no_a")
    code = {"steps.py": b"def make(img, out): pass\ndef no_a(out):\n    assert 'a' not in out\n"}
    update_pipeline(world.lake, thumbs(checks=(check,)), code)
    assert world.run({"b": "two"}).state is JobState.SUCCESS
    job = world.run({"a": "one"})
    assert (job.state, world.shown()) == (JobState.FAILURE, {"b": "TWO"})


def test_a_path_cannot_be_a_file_and_a_folder(world: PipelineWorld) -> None:
    def make(img: InputFiles, out: Out) -> None:
        out.write("x" if img.path == "a" else "x/y", "text")

    job = world.running(make).run({"a": "one", "b": "two"})
    assert job.state is JobState.FAILURE
    assert "'x' would be a file and a folder" in job.reason


def test_a_killed_job_publishes_nothing(world: PipelineWorld) -> None:
    job = world.decide(world.put({"a": "one"})).jobs[0].job

    def kill(step: Step) -> None:
        if step is Step.RAN:
            ask_kill(world.lake, job)

    ended = world.drive(job, kill)
    assert (ended.state, world.shown()) == (JobState.KILLED, {})
    assert ask_kill(world.lake, job) == ended, "an end never changes"


def test_a_job_that_is_killed_before_anybody_drives_it_runs_no_code(world: PipelineWorld) -> None:
    job = world.decide(world.put({"a": "one"})).jobs[0].job
    ask_kill(world.lake, job)
    assert world.drive(job).state is JobState.KILLED
    assert ran == {}


def test_a_job_that_takes_too_long_fails(world: PipelineWorld) -> None:
    world.update(thumbs(job=JobRules(timeout_s=10)))

    def slow(img: InputFiles, out: Out) -> None:
        world.world.sleep(11)

    job = world.running(slow).run({"a": "one"})
    assert (job.state, job.reason) == (JobState.FAILURE, "the job took longer than 10 s")


def test_a_missing_input_makes_a_job_unrunnable(world: PipelineWorld) -> None:
    job = world.decide(world.put({"a": "one"})).jobs[0].job
    fixed = PipelineTables.of(world.lake.store).job_sets
    name = world.decided[0].id.encode()
    gone = msgspec.structs.replace(world.decided[0].cause, unique_identifier="0" * 20)
    fixed.set(name, msgspec.structs.replace(world.decided[0], cause=gone))
    assert world.drive(job).state is JobState.UNRUNNABLE


def test_a_job_below_one_that_failed_is_unrunnable(world: PipelineWorld) -> None:
    world.create(POSTERS)
    world.update(thumbs(datum=DatumRules(tries=1)))
    above, waiting = (planned.job for planned in world.decide(world.put({"x": "?"})).jobs)
    assert world.running(failing("x")).drive(above).state is JobState.FAILURE
    ended = world.drive(waiting)
    assert ended.state is JobState.UNRUNNABLE
    assert list(open_jobs(world.lake.store)) == []


def test_an_egress_that_fails_is_told_and_the_commit_stands(world: PipelineWorld) -> None:
    world.update(thumbs(egress=(Egress(files="elsewhere"),)))
    tried = []

    def send(job: object, commit: object) -> None:
        tried.append(commit)
        raise NotFound("no such folder")

    job = run_job(
        world.lake,
        world.decide(world.put({"a": "one"})).jobs[0].job,
        world.engine(),
        replace(world.beside(), sender=lambda _: send),
    )
    assert (job.state, job.egress) == (JobState.SUCCESS, "try 3 of 3 failed: no such folder")
    assert len(tried) == 3
    assert world.shown() == {"a": "ONE"}


def test_rows_of_a_job_whose_driver_died_at_its_very_end_are_taken_away(
    world: PipelineWorld,
) -> None:
    job = world.run({"a": "one"})
    PipelineTables.of(world.lake.store).open.set(job.id.encode(), b"")
    assert list(open_jobs(world.lake.store)) == []
    assert close_ended(world.lake) == 1
    assert list(scan_prefix(world.lake.store, PIPELINES, b"open/")) == []


def test_a_pipeline_that_was_deleted_leaves_its_open_jobs_unrunnable(world: PipelineWorld) -> None:
    job = world.decide(world.put({"a": "one"})).jobs[0].job
    delete_pipeline(world.lake, "thumbs")
    assert world.drive(job).state is JobState.UNRUNNABLE


def test_a_driver_that_dies_again_and_again_ends_the_job(world: PipelineWorld) -> None:
    world.update(thumbs(job=JobRules(restarts=1)))
    job = world.decide(world.put({"a": "one"})).jobs[0].job
    for _ in range(2):
        claim(world.lake, job)
        world.world.sleep(LEASE_S + 1)
    assert world.drive(job).state is JobState.FAILURE
    assert get_job(world.lake.store, job).reason == "2 drivers came to no end"


def test_work_of_ended_jobs_is_swept_up_after_a_while_but_for_its_logs(
    world: PipelineWorld,
) -> None:
    def chatty(img: InputFiles, out: Out) -> None:
        print("made", img.path)

    job, where = world.running(chatty).run({"a": "one"}), world.repository(THUMBS)
    objects = world.lake.storage(where.storage_namespace).objects
    waiting = world.decide(world.put({"b": "two"})).jobs[0].job
    objects.put(f"_work/jobs/{waiting}/1/0/x/manifest", b"{}")
    world.world.sleep(100)
    assert sweep_work(world.lake, where, older_s=110) == 0
    assert sweep_work(world.lake, where, older_s=90) == 2
    left = [listed.address for listed in walk(objects, "_work/")]
    assert {address.rpartition("/")[2] for address in left if job.id in address} == {"log"}
    assert f"_work/jobs/{waiting}/1/0/x/manifest" in left


def test_what_a_driver_held_behind_the_end_of_its_job_is_cleared(world: PipelineWorld) -> None:
    job, where = world.run({"a": "one"}), world.repository(THUMBS)
    waiting = world.decide(world.put({"b": "two"})).jobs[0].job
    hold(world.lake, where, f"{job.id}-1", job.started)
    hold(world.lake, where, f"{waiting}-1", job.started)
    assert clear_holds(world.lake, where) == 1
    assert list(holds(world.lake, where)) == [f"{waiting}-1"]


def test_a_job_whose_storage_fails_is_tried_again_later_each_time(world: PipelineWorld) -> None:
    job = world.decide(world.put({"a": "one"})).jobs[0].job

    def down(img: InputFiles, out: Out) -> None:
        raise Unavailable("the store is down")

    waits = []
    for _ in range(3):
        with pytest.raises(Unavailable):
            world.running(down).drive(job)
        found = get_job(world.kept, job)
        waits.append(round(found.lease_until / 1e9 - world.world.now()))
        world.world.sleep(waits[-1])
    assert (waits, found.reason) == ([10, 20, 40], "the store is down")
    assert world.drive(job).state is JobState.SUCCESS
