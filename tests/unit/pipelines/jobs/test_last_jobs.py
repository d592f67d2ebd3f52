# SPDX-License-Identifier: Apache-2.0
"""Jobs that come late: what was decided before them, and run, is not set back."""

from collections.abc import Callable
from contextlib import suppress
from itertools import count

import pytest

from lochan.errors import LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Call, Faulty, fail_nth
from lochan.model.ids import BranchName
from lochan.model.records import Commit
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.hard_reset import hard_reset
from lochan.pipelines.jobs.after import close_ended
from lochan.pipelines.jobs.job_records import LEASE_S, claim, open_jobs
from lochan.pipelines.jobs.run_job import Step
from lochan.pipelines.model.records import COMMIT, Cause, Job, JobState
from lochan.pipelines.model.spec import Spec, Trigger
from lochan.pipelines.schedule.job_sets import decide
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.schedule.scheduler import ready_jobs
from lochan.pipelines.schedule.triggers import move_key
from lochan.pipelines.specs.registry import load_graph, update_pipeline
from support.pipeline_world import (
    CODE,
    MAIN,
    PHOTOS,
    THUMBS,
    PipelineWorld,
    namespace_of,
    ran,
    thumbs,
)

EACH = thumbs(trigger=Trigger(each_commit=True))
OTHER_CODE = {"steps.py": CODE["steps.py"].replace(b"upper", b"lower")}


def opened(spec: Spec) -> PipelineWorld:
    world = PipelineWorld.open()
    world.create(spec)
    return world


@pytest.fixture
def world() -> PipelineWorld:
    return opened(thumbs())


def decided(world: PipelineWorld, commit: Commit, jumps: int = 0) -> str:
    """Decide on a commit, as a sweep does; gives the job."""
    cause = Cause(
        kind=COMMIT,
        key=move_key(jumps, commit),
        repository=PHOTOS,
        unique_identifier=world.repository(PHOTOS).unique_identifier,
        branch=MAIN,
        commit=commit.id,
    )
    found = decide(world.lake, cause, load_graph(world.lake))
    assert found is not None
    return found.jobs[0].job


def set_back(world: PipelineWorld, to: Commit) -> None:
    hard_reset(world.lake, world.repository(PHOTOS), MAIN, to)


def read_by(job: Job) -> str:
    return job.pins[0].commit


@pytest.mark.parametrize("spec", [thumbs(), EACH], ids=["newest", "each commit"])
def test_a_job_that_comes_behind_a_later_commits_reads_that(spec: Spec) -> None:
    world = opened(spec)
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    assert world.drive(decided(world, second)).state is JobState.SUCCESS
    late = world.drive(decided(world, first))
    assert (late.state, read_by(late)) == (JobState.SKIPPED, second.id)
    assert world.shown() == {"a": "TWO"}


@pytest.mark.parametrize("spec", [thumbs(), EACH], ids=["newest", "each commit"])
def test_a_job_that_had_nothing_to_publish_has_read_its_commit_all_the_same(spec: Spec) -> None:
    world = opened(spec)
    world.drive(decided(world, world.put({"a": "one"})))
    between, last = world.put({"a": "two"}), world.put({"a": "one"})
    assert world.drive(decided(world, last)).state is JobState.SKIPPED
    late = world.drive(decided(world, between))
    assert (late.state, read_by(late)) == (JobState.SKIPPED, last.id)
    assert world.shown() == {"a": "ONE"}


def test_the_job_that_has_published_last_counts_however_many_are_in_line(
    world: PipelineWorld,
) -> None:
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    world.drive(decided(world, second))
    world.world.sleep(1)
    for number in range(110):
        run_by_hand(world.lake, ["thumbs"], key=str(number))
    assert read_by(world.drive(decided(world, first))) == second.id


@pytest.mark.parametrize("spec", [thumbs(), EACH], ids=["newest", "each commit"])
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_commit_that_its_branch_was_set_back_to_is_read(spec: Spec, *, goes_on: bool) -> None:
    world = opened(spec)
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    world.drive(decided(world, first))
    world.drive(decided(world, second))
    set_back(world, first)
    if goes_on:
        world.put({"a": "three"})
    back = world.drive(decided(world, first, jumps=1))
    assert (back.state, read_by(back)) == (JobState.SUCCESS, first.id)
    assert world.shown() == {"a": "ONE"}


@pytest.mark.parametrize("spec", [thumbs(), EACH], ids=["newest", "each commit"])
def test_a_job_that_comes_when_its_branch_was_set_back_and_that_has_run_reads_the_head(
    spec: Spec,
) -> None:
    world = opened(spec)
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    set_back(world, first)
    world.drive(decided(world, first, jumps=1))
    late = world.drive(decided(world, second))
    assert (late.state, read_by(late)) == (JobState.SKIPPED, first.id)
    assert world.shown() == {"a": "ONE"}


def test_commits_that_are_taken_one_by_one_are_read_behind_the_head_in_their_order() -> None:
    world = opened(EACH)
    commits = [world.put({"a": text}) for text in ("one", "two", "three")]
    run_by_hand(world.lake, ["thumbs"], key="first")
    for job in ready_jobs(world.lake):
        assert read_by(world.drive(job.id)) == commits[-1].id
    for commit in commits:
        assert read_by(world.drive(decided(world, commit))) == commit.id


def test_a_key_of_an_earlier_lake_moves_no_commit_on() -> None:
    """It is a number, which says nothing of how often the branch was set elsewhere."""
    world = opened(EACH)
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    world.drive(world.decide(first).jobs[0].job)
    assert read_by(world.drive(decided(world, second))) == second.id


def test_what_the_caller_fixed_stays_fixed(world: PipelineWorld) -> None:
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    world.drive(decided(world, second))
    by_hand = run_by_hand(world.lake, ["thumbs"], commits={"img": first.id})
    assert read_by(world.drive(by_hand.jobs[0].job)) == first.id
    assert world.shown() == {"a": "ONE"}


def test_what_was_read_for_another_branch_of_the_output_counts_for_nothing(
    world: PipelineWorld,
) -> None:
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    create_branch(world.lake, world.repository(THUMBS), BranchName("exp"), world.head().id)
    elsewhere = run_by_hand(world.lake, ["thumbs"], branch="exp")
    assert read_by(world.drive(elsewhere.jobs[0].job)) == second.id
    assert read_by(world.drive(decided(world, first))) == first.id


def test_an_input_whose_branch_is_gone_is_read_as_it_was_decided(world: PipelineWorld) -> None:
    photos, exp = world.repository(PHOTOS), BranchName("exp")
    world.put({"a": "one"})
    create_branch(world.lake, photos, exp, world.head(PHOTOS).id)
    by_hand = run_by_hand(world.lake, ["thumbs"], branch="exp")
    world.drive(by_hand.jobs[0].job)
    delete_branch(world.lake, photos, exp)
    assert world.drive(decided(world, world.head(PHOTOS))).state is JobState.SUCCESS


def test_a_late_job_of_an_older_version_does_nothing_once_the_newer_one_has_run(
    world: PipelineWorld,
) -> None:
    first = world.put({"a": "One"})
    world.drive(decided(world, first))
    second = world.put({"a": "Two"})
    stale = decided(world, second)
    update_pipeline(world.lake, thumbs(), OTHER_CODE, namespaces=namespace_of)
    newer = world.running(lambda img, out: out.write(img.path, img.read_text().lower()))
    newer.drive(decided(world, second))
    late = world.drive(stale)
    assert (late.state, late.pins) == (JobState.SKIPPED, ())
    assert "another version" in late.reason
    assert world.shown() == {"a": "two"}
    assert list(open_jobs(world.lake.store)) == []


def test_a_job_of_an_older_version_that_waits_in_line_before_the_newer_one_runs(
    world: PipelineWorld,
) -> None:
    world.drive(decided(world, world.put({"a": "one"})))
    waiting = decided(world, world.put({"a": "two"}))
    update_pipeline(world.lake, thumbs(), OTHER_CODE, namespaces=namespace_of)
    assert world.drive(waiting).state is JobState.SUCCESS
    assert world.shown() == {"a": "TWO"}


def test_of_one_line_a_job_that_has_begun_stands_before_an_older_one(world: PipelineWorld) -> None:
    first, second = world.put({"a": "one"}), world.put({"a": "two"})
    world.world.sleep(10)
    begun = decided(world, second)
    claim(world.lake, begun)
    world.world.sleep(-10)
    older = decided(world, first)
    assert list(ready_jobs(world.lake)) == [], "no two are driven beside each other"
    world.world.sleep(10)
    world.drive_at_last(begun)
    assert [job.id for job in ready_jobs(world.lake)] == [older]


def overtaken(world: PipelineWorld, also: Callable[[], object] = lambda: None) -> Job:
    """Drive a job beside which another one is driven, which was decided on a later commit."""
    first = world.put({"a": "one"})
    job = decided(world, first)
    later = decided(world, world.put({"a": "two", "b": "new"}))

    def overtake(step: Step) -> None:
        if step is Step.RAN and not world.commits_of(later):
            world.again().drive(later)
            also()

    ended = world.drive(job, overtake)
    assert ran == {"a": 2, "b": 1}, "no code runs again"
    assert ended.epoch == 1
    return ended


def test_a_job_that_meets_a_later_commit_of_its_pipeline_sets_nothing_back(
    world: PipelineWorld,
) -> None:
    assert overtaken(world).state is JobState.SKIPPED
    assert world.shown() == {"a": "TWO", "b": "NEW"}


def test_a_job_that_meets_another_commit_of_its_pipeline_shows_what_it_is_pinned_to(
    world: PipelineWorld,
) -> None:
    """The other one is later, but its input was set back since; it is undone, and whole."""

    def back() -> None:
        tables = world.lake.tables(world.repository(PHOTOS))
        set_back(world, tables.commits.get(world.head(PHOTOS).parents[0].encode()).record)

    ended = overtaken(world, back)
    assert (ended.state, read_by(ended)) == (JobState.SUCCESS, world.head(PHOTOS).id)
    assert world.shown() == {"a": "ONE"}
    assert len(world.commits_of(ended.id)) == 1


@pytest.mark.parametrize("texts", ["12", "121"], ids=["other", "as before"])
@pytest.mark.parametrize("is_older", [True, False])
@pytest.mark.parametrize("spec", [thumbs(), EACH], ids=["newest", "each commit"])
def test_a_job_beside_which_another_one_is_driven_at_any_call_sets_nothing_back(
    spec: Spec, texts: str, *, is_older: bool
) -> None:
    """The later one may have nothing to publish."""
    start = opened(spec)
    *before, first, second = (start.put({"a": text}) for text in texts)
    for commit in before:
        start.drive(decided(start, commit))
    jobs = [decided(start, first), decided(start, second)]
    slow, quick = jobs if is_older else reversed(jobs)
    for number in count(1):
        world = start.copy()

        def beside(call: Call, world: PipelineWorld = world, number: int = number) -> Fault:
            if call.number == number:
                world.again().drive(quick)
            return Fault.OK

        store = Faulty(world.kept, beside, world.world)
        ended = world.again(store).drive(slow)
        assert ended.state in {JobState.SUCCESS, JobState.SKIPPED}
        if store.calls < number:
            return
        assert world.shown() == {"a": texts[-1]}, f"call {number}"


@pytest.mark.parametrize("fault", [Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.LOST_RESPONSE])
def test_a_late_job_whose_driver_fails_at_any_call_sets_nothing_back(fault: Fault) -> None:
    start = opened(thumbs())
    first, second = start.put({"a": "one"}), start.put({"a": "two"})
    start.drive(decided(start, second))
    late = decided(start, first)
    for number in count(1):
        world = start.copy()
        store = Faulty(world.kept, fail_nth(number, fault), world.world)
        with suppress(Crashed, LochanError):
            world.again(store).drive(late)
        world.world.sleep(10 * LEASE_S)
        close_ended(world.lake)
        ended = world.drive_at_last(late)
        assert ended.state is JobState.SKIPPED, f"call {number}"
        assert world.shown() == {"a": "TWO"}, f"call {number}"
        if store.calls < number:
            return
