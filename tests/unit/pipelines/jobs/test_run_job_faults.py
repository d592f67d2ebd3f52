# SPDX-License-Identifier: Apache-2.0
"""Drivers that die anywhere, two at once, and late ones: always one commit with the job's id."""

from collections import Counter
from collections.abc import Callable
from itertools import count

import pytest

from lochan.errors import Conflict, LochanError
from lochan.faults import Crashed, Fault
from lochan.kv import faulty as faulty_kv
from lochan.model.ids import BranchName
from lochan.objects import faulty as faulty_objects
from lochan.objects.store import ObjectStore
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.findings import Severity
from lochan.operations.fsck import fsck
from lochan.operations.gc.held import holds
from lochan.operations.hard_reset import hard_reset
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.reference import commit_of
from lochan.pipelines.attempts.input_files import InputFiles
from lochan.pipelines.attempts.output_files import Out
from lochan.pipelines.jobs.job_records import LEASE_S, ask_kill, get_job, open_jobs
from lochan.pipelines.jobs.pin import find_base
from lochan.pipelines.jobs.publish import Publication, fence, publish
from lochan.pipelines.jobs.run_job import Step
from lochan.pipelines.jobs.squash import Outcome
from lochan.pipelines.model.failures import LeaseLost
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import JobRules
from lochan.pipelines.model.tables import PipelineTables
from support.pipeline_world import MAIN, PHOTOS, THUMBS, PipelineWorld, ran, thumbs

FILES = {"a": "eins", "c": "three", "d": "four"}
AFTER = {"a": "EINS", "c": "THREE", "d": "FOUR"}
KINDS: list[Fault] = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


@pytest.fixture(scope="module")
def ground() -> PipelineWorld:
    """Have an output with two files, and a job that is decided: one changes, one goes, two come."""
    world = PipelineWorld.open()
    world.create(thumbs(shards=3, job=JobRules(restarts=9)))
    world.run({"a": "one", "b": "two"})
    world.decide(world.put(FILES, gone=["b"]))
    return world


@pytest.fixture
def world(ground: PipelineWorld) -> PipelineWorld:
    ran.clear()
    return ground.copy()


def job_of(world: PipelineWorld) -> str:
    return world.decided[-1].jobs[0].job


def dying(at: Step) -> Callable[[Step], None]:
    """Give a listener that ends the process at a step."""

    def reached(step: Step) -> None:
        if step is at:
            raise Crashed

    return reached


def require_one_commit(world: PipelineWorld, where: str = "") -> None:
    """See that the job is done, once, and that nothing is left of it."""
    job = job_of(world)
    [made] = world.commits_of(job)
    ended = get_job(world.lake.store, job)
    assert (ended.state, ended.commit) == (JobState.SUCCESS, made.id), where
    assert world.shown() == AFTER, where
    assert list(open_jobs(world.lake.store)) == []
    tables = PipelineTables.of(world.lake.store)
    assert tables.by_output.get(f"{THUMBS}/{made.id}".encode()).record == job
    assert holds(world.lake, world.repository(PHOTOS)) == {}, where
    assert holds(world.lake, world.repository(THUMBS)) == {}, where
    found = [one for one in fsck(world.lake) if one.severity is Severity.ERROR]
    assert found == [], where


@pytest.mark.parametrize("step", list(Step))
def test_rel_P5_pach_J3_a_driver_that_dies_after_any_step_leaves_one_commit(
    world: PipelineWorld, step: Step
) -> None:
    with pytest.raises(Crashed):
        world.again().drive(job_of(world), dying(step))
    world.again().drive_at_last(job_of(world))
    require_one_commit(world)


def test_rel_P6_what_finished_attempts_computed_is_not_computed_again(world: PipelineWorld) -> None:
    with pytest.raises(Crashed):
        world.again().drive(job_of(world), dying(Step.RAN))
    before = Counter(ran)
    world.again().drive_at_last(job_of(world))
    assert ran == before == {"a": 1, "c": 1, "d": 1}
    require_one_commit(world)


def test_a_resumed_job_runs_the_shards_that_came_to_no_end_alone(world: PipelineWorld) -> None:
    def make(img: InputFiles, out: Out) -> None:
        if img.path == "d":
            raise Crashed
        ran[img.path] += 1
        out.write(img.path, img.read_text().upper())

    with pytest.raises(Crashed):
        world.running(make).drive(job_of(world))
    assert ran == {"a": 1, "c": 1}
    world.again().drive_at_last(job_of(world))
    assert ran == {"a": 1, "c": 1, "d": 1}
    require_one_commit(world)


def test_a_driver_that_finds_the_job_published_has_only_the_rest_to_do(
    world: PipelineWorld,
) -> None:
    steps: list[Step] = []
    with pytest.raises(Crashed):
        world.again().drive(job_of(world), dying(Step.PUBLISHED))
    world.world.sleep(LEASE_S + 1)
    world.again().drive(job_of(world), steps.append)
    assert steps == [Step.CLAIMED, Step.PUBLISHED, Step.TOLD]
    require_one_commit(world)


def test_rel_P5_who_publishes_a_job_again_gets_the_commit_that_is_there(
    world: PipelineWorld,
) -> None:
    job = world.drive(job_of(world))
    before = world.head()
    base = find_base(world.lake, job, before)
    where = world.repository(THUMBS)
    wanted = Publication(job, where, base, Outcome(), "error", "digest", "ann", "again")
    assert publish(world.lake, wanted, lambda _: None).commit == before
    assert world.head() == before


def test_rel_P5_a_job_is_published_once_though_its_output_was_reset_below_its_base(
    world: PipelineWorld,
) -> None:
    job, where = job_of(world), (world.lake.forcing(), world.repository(THUMBS))
    with pytest.raises(Crashed):
        world.again().drive(job, dying(Step.RAN))
    hard_reset(*where, MAIN, commit_of(*where, f"{MAIN}~1"))
    world.world.sleep(LEASE_S + 1)
    with pytest.raises(Crashed):
        world.again().drive(job, dying(Step.PUBLISHED))
    world.again().drive_at_last(job)
    require_one_commit(world)


def test_rel_P5_a_job_is_published_once_though_its_output_was_reset_to_a_merge_that_has_it(
    world: PipelineWorld,
) -> None:
    job, where = job_of(world), (world.lake.forcing(), world.repository(THUMBS))
    dev = BranchName("dev")
    create_branch(*where, dev, commit_of(*where, MAIN).id)
    commit(*where, dev, CommitRequest("ada", "beside", allow_empty=True))
    with pytest.raises(Crashed):
        world.again().drive(job, dying(Step.PUBLISHED))
    merge(*where, dev, commit_of(*where, MAIN), MergeRequest("ada"))
    hard_reset(*where, MAIN, commit_of(*where, dev))
    world.world.sleep(LEASE_S + 1)
    world.again().drive_at_last(job)
    require_one_commit(world)


def one_kind(number: int) -> list[Fault]:
    return [KINDS[number % len(KINDS)]] if number <= 60 or number % 3 == 0 else []


def fail_everywhere(ground: PipelineWorld, kinds: Callable[[int], list[Fault]]) -> int:
    """Fail each call of a driver in the ways asked for; then let drivers come until it is over."""
    points = 0
    for store in ("kv", "objects"):
        for number in count(1):
            reached = [fails(ground, store, number, fault) for fault in kinds(number)]
            points += sum(reached)
            if not all(reached):
                break
    return points


def fails(ground: PipelineWorld, store: str, number: int, fault: Fault) -> bool:
    world = ground.copy()
    failing, calls = failing_world(world, store, number, fault)
    job, is_error = job_of(world), False
    try:
        failing.drive(job)
    except (LochanError, Crashed):
        is_error = True
    if calls() < number:
        assert not is_error
        return False
    where = f"{fault} at call {number} of {store}"
    world.again().drive_at_last(job)
    require_one_commit(world.again(), where)
    return True


def failing_world(
    world: PipelineWorld, store: str, number: int, fault: Fault
) -> tuple[PipelineWorld, Callable[[], int]]:
    if store == "kv":
        through = faulty_kv.Faulty(world.kept, faulty_kv.fail_nth(number, fault), world.world)
        return world.again(through), lambda: through.calls
    made = 0

    def decide(_: faulty_objects.Call) -> Fault:
        nonlocal made
        made += 1
        return fault if made == number else Fault.OK

    def wrap(objects: ObjectStore) -> ObjectStore:
        return faulty_objects.Faulty(objects, decide, world.world)

    return world.again(wrap=wrap), lambda: made


def test_rel_P5_rel_V14_a_driver_that_fails_at_any_call_to_a_store_leaves_one_commit(
    ground: PipelineWorld,
) -> None:
    assert fail_everywhere(ground, one_kind) > 100


@pytest.mark.ci_campaign
def test_rel_P5_rel_V14_a_driver_that_fails_at_any_call_in_every_way_leaves_one_commit(
    ground: PipelineWorld,
) -> None:
    assert fail_everywhere(ground, lambda _: KINDS) > 500


def test_rel_P5_of_two_drivers_one_claims_the_job(world: PipelineWorld) -> None:
    other = world.again()
    codes = []

    def meet(step: Step) -> None:
        with pytest.raises(Conflict) as met:
            other.drive(job_of(world))
        codes.append((step, met.value.code))

    world.drive(job_of(world), meet)
    assert {code for step, code in codes if step is not Step.TOLD} == {"job-claimed"}
    require_one_commit(world)


@pytest.mark.parametrize("step", [step for step in Step if step is not Step.TOLD])
def test_rel_P5_a_driver_that_was_taken_over_publishes_nothing(
    world: PipelineWorld, step: Step
) -> None:
    """The first driver stands still at a step until its lease has run out, and then goes on."""
    other = world.again()

    def stand_still(reached: Step) -> None:
        if reached is step:
            world.world.sleep(LEASE_S + 1)
            other.drive(job_of(world))

    with pytest.raises(LeaseLost):
        world.drive(job_of(world), stand_still)
    require_one_commit(world)
    epoch = "1" if step is Step.PUBLISHED else "2"
    assert world.head().metadata["lochan.epoch"] == epoch


def test_rel_P4_a_killed_job_stays_unpublished_though_its_old_driver_goes_on(
    world: PipelineWorld,
) -> None:
    other, before = world.again(), world.head()

    def stand_still(reached: Step) -> None:
        if reached is Step.VALIDATED:
            world.world.sleep(LEASE_S + 1)
            ask_kill(other.lake, job_of(world))
            assert other.drive(job_of(world)).state is JobState.KILLED

    with pytest.raises(LeaseLost):
        world.drive(job_of(world), stand_still)
    assert world.head() == before
    assert world.commits_of(job_of(world)) == []


def test_a_fence_between_the_last_question_and_the_swap_makes_the_swap_fail(
    world: PipelineWorld,
) -> None:
    """The latest moment: the old driver has asked whether the job is its own, and swaps next."""
    other, swaps = world.again(), 0

    def take_over(call: faulty_kv.Call) -> Fault:
        nonlocal swaps
        if call.operation == "set_if" and call.key == b"branches/main":
            swaps += 1
            if swaps == 1:
                world.world.sleep(LEASE_S + 1)
                ask_kill(other.lake, job_of(world))
                assert other.drive(job_of(world)).state is JobState.KILLED
        return Fault.OK

    late = world.again(faulty_kv.Faulty(world.kept, take_over, world.world))
    with pytest.raises(LeaseLost):
        late.drive(job_of(world))
    assert swaps == 1, "it asked again before a second one"
    assert world.commits_of(job_of(world)) == []


def test_a_lost_swap_squashes_again_and_runs_no_code(world: PipelineWorld) -> None:
    others: list[str] = []

    def disturb(step: Step) -> None:
        if step is Step.VALIDATED and len(others) < 3:
            where = world.lake.forcing(), world.repository(THUMBS)
            said = CommitRequest("eve", "mine", allow_empty=True)
            others.append(commit(*where, MAIN, said).id)

    job = world.drive(job_of(world), disturb)
    assert ran == {"a": 1, "c": 1, "d": 1}
    assert world.head().parents == (others[-1],)
    assert job.epoch == 1
    require_one_commit(world)


def test_fencing_changes_nothing_that_people_see(world: PipelineWorld) -> None:
    where = world.repository(THUMBS)
    before, head = world.shown(), world.head()
    fence(world.lake, where, MAIN)
    fence(world.lake, where, MAIN)
    assert (world.shown(), world.head()) == (before, head)
