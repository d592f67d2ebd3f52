# SPDX-License-Identifier: Apache-2.0
"""A job from its cause to its commit, and what the next one need not do."""

from dataclasses import replace

import msgspec
import pytest

from lochan.errors import Conflict, NotFound
from lochan.kv.read import scan_prefix
from lochan.model.ids import BranchName, MetaRangeId, RepositoryId, StorageNamespace
from lochan.model.records import Provenance
from lochan.operations.branches import create_branch
from lochan.operations.create_repository import create_repository
from lochan.operations.gc.held import holds
from lochan.operations.hard_reset import hard_reset
from lochan.operations.transplant import TransplantRequest, revert
from lochan.pipelines.after import close_ended
from lochan.pipelines.commit_metadata import DATUMS, EPOCH, JOB, PIPELINE, PROCESSED, SKIPPED
from lochan.pipelines.function_call import Function
from lochan.pipelines.input_files import InputFiles
from lochan.pipelines.jobs import LEASE_S, ask_kill, claim, get_job, open_jobs
from lochan.pipelines.output_files import Out
from lochan.pipelines.records import PIPELINES, JobState
from lochan.pipelines.registry import delete_pipeline, update_pipeline
from lochan.pipelines.run_job import Step, most_failed, run_job
from lochan.pipelines.shard_view import list_shards, shard_tree
from lochan.pipelines.spec import (
    Check,
    CrossInput,
    DatumRules,
    Egress,
    JobRules,
    Output,
    RepoInput,
)
from lochan.pipelines.tables import PipelineTables
from support.pipeline_world import MAIN, PHOTOS, THUMBS, PipelineWorld, ran, thumbs

POSTERS = thumbs(
    pipeline="posters",
    input=RepoInput(name="img", repo=THUMBS, glob="/*"),
    output=Output(repo="posters"),
)


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


def test_pach_J3_a_job_publishes_what_its_datums_wrote_as_one_commit(world: PipelineWorld) -> None:
    before = world.head()
    job = world.run({"a": "one", "b": "two"})
    assert job.state is JobState.SUCCESS
    assert world.shown() == {"a": "ONE", "b": "TWO"}
    assert (world.head().id, world.head().parents) == (job.commit, (before.id,))
    assert ran == {"a": 1, "b": 1}
    assert list(open_jobs(world.lake.store)) == []


def test_pach_J6_the_first_job_of_an_output_stands_on_its_empty_root(world: PipelineWorld) -> None:
    root = world.head()
    assert (root.parents, root.meta_range_id) == ((), "")
    assert world.run({"a": "one"}).base == root.id


def test_pach_J7_rel_P3_the_commit_names_its_inputs_and_its_code(world: PipelineWorld) -> None:
    photos = world.put({"a": "one"})
    job = world.drive(world.decide(photos).jobs[0].job)
    made = world.head()
    pinned = Provenance(
        repository_id=PHOTOS,
        commit_id=photos.id,
        input="img",
        glob="/*",
        meta_range_id=photos.meta_range_id,
    )
    assert made.provenance == (pinned,)
    said = made.metadata
    assert (said[JOB], said[PIPELINE], said[EPOCH]) == (job.id, "thumbs", "1")
    assert (said[PROCESSED], said[SKIPPED]) == ("1", "0")
    assert said[DATUMS]


def test_rows_lead_from_an_input_to_what_came_of_it_and_back(world: PipelineWorld) -> None:
    job = world.run({"a": "one"})
    tables = PipelineTables.of(world.lake.store)
    assert tables.by_output.get(f"{THUMBS}/{job.commit}".encode()).record == job.id
    [(came, _)] = tables.came.scan()
    assert came.endswith(f"/{job.pins[0].commit}/{THUMBS}/{job.commit}".encode())


def test_pach_M1_the_next_job_runs_what_changed_and_takes_away_what_vanished(
    world: PipelineWorld,
) -> None:
    world.run({"a": "one", "b": "two", "c": "three"})
    ran.clear()
    job = world.run({"b": "zwei"}, gone=["c"])
    assert world.shown() == {"a": "ONE", "b": "ZWEI"}
    assert ran == {"b": 1}
    assert (job.counts.processed, job.counts.skipped, job.counts.gone) == (1, 1, 1)


def test_an_input_that_changes_nothing_is_skipped_and_the_output_stays(
    world: PipelineWorld,
) -> None:
    world.run({"a": "one"})
    head = world.head()
    again = world.run({})
    assert (again.state, again.commit) == (JobState.SKIPPED, "")
    assert world.head() == head
    assert list(open_jobs(world.lake.store)) == []


def test_an_empty_commit_is_published_where_the_spec_asks_for_it(world: PipelineWorld) -> None:
    world.update(thumbs(job=JobRules(empty_commit=True)))
    first = world.run({"a": "one"})
    second = world.run({})
    assert second.state is JobState.SUCCESS
    assert world.head().parents == (first.commit,)
    assert world.head().provenance[0].commit_id == second.pins[0].commit


def test_pach_M4_a_reverted_input_runs_no_code(world: PipelineWorld) -> None:
    world.run({"a": "one", "b": "two"})
    world.run({"a": "eins"})
    ran.clear()
    job = world.run({"a": "one"})
    assert (job.counts.remembered, job.counts.processed) == (1, 0)
    assert ran == {}
    assert world.shown() == {"a": "ONE", "b": "TWO"}


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


def test_what_others_did_to_the_output_is_undone_by_the_next_job(world: PipelineWorld) -> None:
    world.run({"a": "one"})
    world.run({"b": "two"})
    lake, where = world.lake.forcing(), world.repository(THUMBS)
    revert(lake, where, MAIN, world.head(), TransplantRequest("ann", "no"))
    assert world.shown() == {"a": "ONE"}
    ran.clear()
    world.run({"c": "three"})
    assert world.shown() == {"a": "ONE", "b": "TWO", "c": "THREE"}
    assert ran == {"c": 1}


def test_an_output_that_was_reset_goes_on_from_there(world: PipelineWorld) -> None:
    world.run({"a": "one"})
    first = world.head()
    world.run({"b": "two"})
    hard_reset(world.lake.forcing(), world.repository(THUMBS), MAIN, first)
    ran.clear()
    job = world.run({"c": "three"})
    assert world.shown() == {"a": "ONE", "b": "TWO", "c": "THREE"}
    assert (ran, job.counts.remembered) == ({"c": 1}, 1)


def test_a_run_on_another_branch_starts_from_the_pipelines_own_and_runs_no_code(
    world: PipelineWorld,
) -> None:
    world.run({"a": "one"})
    create_branch(world.lake, world.repository(PHOTOS), BranchName("exp"), world.head(PHOTOS).id)
    ran.clear()
    decided = world.decide(world.put({"b": "two"}), branch="exp")
    job = world.drive(decided.jobs[0].job)
    assert job.output_branch == "exp"
    assert job.pins[0].branch == "exp"
    assert ran == {}, "exp has no b"
    assert world.shown(ref="exp") == {"a": "ONE"}


def test_a_job_below_reads_what_the_one_above_it_published(world: PipelineWorld) -> None:
    world.create(POSTERS)
    decided = world.decide(world.put({"a": "one"}))
    above, waiting = (planned.job for planned in decided.jobs)
    with pytest.raises(Conflict, match="waits for jobs above"):
        world.drive(waiting)
    made = world.drive(above)
    world.run({"b": "two"})
    assert world.drive(waiting).pins[0].commit == made.commit, "of the same set, not the newest"
    assert world.shown("posters") == {"a": "ONE"}


def test_a_job_below_one_that_failed_is_unrunnable(world: PipelineWorld) -> None:
    world.create(POSTERS)
    world.update(thumbs(datum=DatumRules(tries=1)))
    above, waiting = (planned.job for planned in world.decide(world.put({"x": "?"})).jobs)
    assert world.running(failing("x")).drive(above).state is JobState.FAILURE
    ended = world.drive(waiting)
    assert ended.state is JobState.UNRUNNABLE
    assert list(open_jobs(world.lake.store)) == []


def test_what_a_spec_fixes_to_a_commit_is_read_there(world: PipelineWorld) -> None:
    first = world.run({"a": "one"})
    world.run({"b": "two"})
    decided = world.decide(world.put({"c": "three"}), pins=first.pins)
    job = world.drive(decided.jobs[0].job)
    assert job.pins == first.pins
    assert world.shown() == {"a": "ONE"}


def test_a_job_holds_what_it_reads_and_writes_until_it_is_over(world: PipelineWorld) -> None:
    decided = world.decide(world.put({"a": "one"}))
    seen = []

    def look(step: Step) -> None:
        if step is Step.RAN:
            seen.append(
                [
                    list(holds(world.lake, world.repository(name)).values())
                    for name in (PHOTOS, THUMBS)
                ]
            )

    job = world.drive(decided.jobs[0].job, look)
    [[[photos], [out]]] = seen
    assert (photos.since, photos.commits) == (0, (job.pins[0].commit,))
    assert (out.since, out.commits) == (job.started, (job.base,))
    assert holds(world.lake, world.repository(PHOTOS)) == {}
    assert holds(world.lake, world.repository(THUMBS)) == {}


def test_pach_J1_a_shard_can_be_looked_at_and_shows_the_base_and_its_own_files_alone(
    world: PipelineWorld,
) -> None:
    world.update(thumbs(shards=2))
    world.run({"a": "one"})
    decided, seen = world.decide(world.put({"b": "two", "c": "three"})), list[list[bytes]]()

    def look(step: Step) -> None:
        if step is Step.RAN:
            job = get_job(world.kept, decided.jobs[0].job)
            snapshots = world.lake.storage(world.repository(THUMBS).storage_namespace).snapshots
            for shard in list_shards(world.lake, job):
                tree = shard_tree(world.lake, job, shard.shard)
                seen.append([row.key for row in snapshots.cursor(tree)])

    job = world.drive(decided.jobs[0].job, look)
    assert seen == [[b"a", b"b"], [b"a", b"c"]]
    with pytest.raises(NotFound, match="has finished no shard 7"):
        shard_tree(world.lake, job, 7)


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


def test_two_inputs_are_both_pinned(world: PipelineWorld) -> None:
    both = CrossInput(
        inputs=(
            RepoInput(name="img", repo=PHOTOS, glob="/*"),
            RepoInput(name="other", repo="models", glob="/", trigger=False),
        )
    )
    create_repository(world.lake, RepositoryId("models"), StorageNamespace("mem://models"), MAIN)
    world.put({"m": "model"}, to="models")
    world.update(thumbs(input=both))

    def make(img: InputFiles, other: InputFiles, out: Out) -> None:
        out.write(img.path, img.read_text() + other.read_text("m"))

    job = world.running(make).run({"a": "one "})
    assert [pin.input for pin in job.pins] == ["img", "other"]
    assert world.shown() == {"a": "one model"}
    assert MetaRangeId(job.pins[1].meta_range_id) == world.head("models").meta_range_id
