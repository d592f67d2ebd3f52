# SPDX-License-Identifier: Apache-2.0
"""What befalls an output besides its jobs: picked commits, other policies, owners, lost rows."""

import pytest

from lochan.model.ids import BranchName, RepositoryId
from lochan.operations.branches import create_branch
from lochan.operations.create_repository import create_repository
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.gc.held import holds
from lochan.operations.repositories import delete_repository
from lochan.operations.retention import set_gc_rules
from lochan.operations.transplant import TransplantRequest, cherry_pick
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.job_records import LEASE_S, claim
from lochan.pipelines.jobs.run_job import Step
from lochan.pipelines.model.failures import LeaseLost
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import Collision, DatumRules, Output
from lochan.pipelines.model.tables import PipelineTables
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.specs.registry import delete_pipeline
from support.pipeline_world import MAIN, PHOTOS, THUMBS, PipelineWorld, namespace_of, ran, thumbs

DAY_S = 24 * 3600.0
EXP = BranchName("exp")


@pytest.fixture
def world() -> PipelineWorld:
    world = PipelineWorld.open()
    world.create()
    return world


def spread(img: InputFiles, out: Out) -> None:
    """Write the file's name under every path that it names."""
    for path in img.read_text().split():
        out.write(path, f"{img.path};")


def of_policy(policy: Collision) -> PipelineWorld:
    world = PipelineWorld.open(function=spread)
    world.create(thumbs(output=Output(repo=THUMBS, collision=policy)))
    return world


def test_a_picked_commit_is_not_taken_for_the_pipelines_own(world: PipelineWorld) -> None:
    """It has another tree than the job's, whatever its metadata say."""
    root = world.head()
    world.run({"a": "one"})
    world.run({"b": "two"})
    output = world.repository(THUMBS)
    create_branch(world.lake, output, EXP, root.id)
    cherry_pick(world.lake, output, EXP, world.head(), TransplantRequest("eve"))
    assert world.shown(ref=EXP) == {"b": "TWO"}
    decided = run_by_hand(world.lake, ["thumbs"], key="1", branch=EXP)
    assert world.drive(decided.jobs[0].job).state is JobState.SUCCESS
    assert world.shown(ref=EXP) == {"a": "ONE", "b": "TWO"}


def test_what_a_forgotten_job_wrote_goes_though_nothing_is_left_to_run(
    world: PipelineWorld,
) -> None:
    """The rows of jobs may come from an older copy of the store than the output does."""
    job = world.run({"a": "one"})
    PipelineTables.of(world.lake.store).jobs.delete(job.id.encode())
    world.run({}, gone=["a"])
    assert world.shown() == {}


@pytest.mark.parametrize("others", ["error", "append", "last"])
def test_another_policy_decides_paths_again_that_no_change_touches(others: Collision) -> None:
    world = of_policy("last")
    world.run({"a": "x", "b": "x", "c": "y"})
    world.update(thumbs(output=Output(repo=THUMBS, collision=others)))
    job = world.run({"c": "y z"})
    wanted = {"append": {"x": "a;b;"}, "last": {"x": "b;"}, "error": {"x": "b;"}}[others]
    assert (job.state is JobState.FAILURE) == (others == "error")
    shown = world.shown()
    assert {"x": shown["x"]} == wanted


def test_what_was_hidden_under_another_policy_survives_collection() -> None:
    world = of_policy("last")
    world.run({"a": "x", "b": "x"})
    world.update(thumbs(output=Output(repo=THUMBS, collision="append")))
    world.run({"c": "y"})
    set_gc_rules(world.lake, world.repository(THUMBS), 1, {})
    for _ in range(3):
        world.world.sleep(9 * DAY_S)
        collect(world.lake, world.repository(THUMBS), Collection(force=True))
    world.run({"d": "x"})
    assert world.shown()["x"] == "a;b;d;"


def test_rel_P4_a_job_publishes_nothing_when_its_pipeline_was_deleted_meanwhile(
    world: PipelineWorld,
) -> None:
    before = world.head()

    def delete(step: Step) -> None:
        if step is Step.RAN:
            delete_pipeline(world.lake, "thumbs")

    job = world.decide(world.put({"a": "one"})).jobs[0].job
    assert world.drive(job, delete).state is JobState.UNRUNNABLE
    assert world.head() == before


def test_rel_P4_a_job_publishes_nothing_on_a_branch_that_another_pipeline_has_taken(
    world: PipelineWorld,
) -> None:
    before = world.head()

    def take(step: Step) -> None:
        if step is Step.RAN:
            world.update(thumbs(output=Output(repo=THUMBS, branch="elsewhere")))
            world.create(thumbs(pipeline="others"))

    job = world.decide(world.put({"a": "one"})).jobs[0].job
    assert world.drive(job, take).state is JobState.UNRUNNABLE
    assert world.head() == before


def test_an_input_that_was_made_again_under_a_job_makes_it_unrunnable(
    world: PipelineWorld,
) -> None:
    def make_again(step: Step) -> None:
        if step is Step.PINNED:
            delete_repository(world.lake, world.repository(PHOTOS))
            where = namespace_of("photos-again")
            create_repository(world.lake, RepositoryId(PHOTOS), where, MAIN, committer="ann")

    job = world.decide(world.put({"a": "one"})).jobs[0].job
    ended = world.drive(job, make_again)
    assert (ended.state, "made again" in ended.reason) == (JobState.UNRUNNABLE, True)


def test_rel_P4_datums_that_fail_since_their_input_was_deleted_leave_the_output_as_it_was() -> None:
    """Quarantine is for datums that are wrong: without this it would empty the output."""
    world = PipelineWorld.open()
    world.create(thumbs(datum=DatumRules(on_error="quarantine", tries=1)))
    world.run({"a": "one"})

    def lost(img: InputFiles, out: Out) -> None:
        delete_repository(world.lake, world.repository(PHOTOS))
        raise ValueError("nothing to read")

    job = world.decide(world.put({"a": "two"})).jobs[0].job
    assert world.running(lost).drive(job).state is JobState.UNRUNNABLE
    assert world.shown() == {"a": "ONE"}


def test_rel_P4_what_a_job_wrote_is_held_though_the_driver_that_wrote_it_has_lost_it(
    world: PipelineWorld,
) -> None:
    """The next driver uses what this one finished: between the two nothing may be collected."""
    other = world.again()
    job = world.decide(world.put({"a": "one"})).jobs[0].job

    def stand_still(step: Step) -> None:
        if step is Step.RAN:
            world.world.sleep(LEASE_S + 1)
            claim(other.lake, job)  # and that one dies at once

    with pytest.raises(LeaseLost):
        world.drive(job, stand_still)
    assert list(holds(world.lake, world.repository(THUMBS))) == [f"{job}-1"]
    for _ in range(3):
        world.world.sleep(9 * DAY_S)
        collect(world.lake, world.repository(THUMBS), Collection(force=True))
    assert world.drive(job).state is JobState.SUCCESS
    assert (world.shown(), ran) == ({"a": "ONE"}, {"a": 1})
    assert holds(world.lake, world.repository(THUMBS)) == {}


def test_a_lease_of_a_clock_that_ran_far_ahead_ends_all_the_same(world: PipelineWorld) -> None:
    job = world.decide(world.put({"a": "one"})).jobs[0].job
    world.world.sleep(365 * DAY_S)
    claim(world.lake, job)
    world.world.sleep(-364 * DAY_S)
    assert world.drive(job).state is JobState.SUCCESS
