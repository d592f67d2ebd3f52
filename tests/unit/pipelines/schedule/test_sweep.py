# SPDX-License-Identifier: Apache-2.0
"""What runs when branches move: by sweeps that may come late, twice, or break off anywhere."""

from contextlib import suppress

import pytest

from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import BranchName
from lochan.operations.branches import create_branch
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.records import Job, JobState
from lochan.pipelines.model.spec import CronInput, Trigger, TriggerTerm
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.schedule.scheduler import Scheduler
from lochan.pipelines.schedule.sweep import sweep
from lochan.pipelines.schedule.ticks import tick
from lochan.pipelines.specs.registry import load_graph, set_paused, update_pipeline
from support.pipeline_graph import CODE, diamond, drive_all, jobs_of, made, reads, swept
from support.pipeline_world import PHOTOS, PipelineWorld, namespace_of


@pytest.fixture
def world() -> PipelineWorld:
    return PipelineWorld.open(PHOTOS)


def test_a_commit_starts_what_hangs_on_it_once(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    first, again = swept(world), swept(world)
    assert ([len(decided.jobs) for decided in first], again) == ([1], ())
    assert drive_all(world) == [("one", "success")]
    assert swept(world) == ()


def test_pach_5_5_11_an_event_that_is_told_twice_makes_one_job_set(world: PipelineWorld) -> None:
    """A sweep that dies before it has noted what it decided decides the same again."""
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    graph = load_graph(world.lake)
    for number in range(40):
        store = Faulty(world.kept, fail_nth(number, Fault.CRASH_AFTER), world.world)
        with suppress(Crashed):
            sweep(world.again(store).lake, graph)
    swept(world)
    assert [job.state for job in jobs_of(world, "one")] == [JobState.CREATED]


def test_pach_5_5_11_commits_that_nobody_told_of_are_found_and_taken_together(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS))
    swept(world)
    drive_all(world)
    passed = [world.put({"a": str(number)}).id for number in range(3)]
    (decided,) = swept(world)
    assert decided.cause.commit == passed[-1]
    assert set(decided.skipped_commits) == set(passed[:-1])


def test_commits_that_come_while_a_job_is_open_wait_for_its_end(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    swept(world)
    world.put({"a": "2"})
    assert swept(world) == ()
    drive_all(world)
    assert len(swept(world)) == 1
    drive_all(world)
    assert world.shown("one-out") == {"a": "2"}


def test_each_commit_has_a_job_of_its_own_where_that_is_asked_for(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS), trigger=Trigger(each_commit=True))
    world.put({"a": "0"})
    swept(world)
    commits = [world.put({"a": str(number)}).id for number in (1, 2, 3)]
    assert [decided.cause.commit for decided in swept(world)] == commits
    assert drive_all(world) == [("one", "success")] * 4
    assert world.shown("one-out") == {"a": "3"}


def test_each_commit_keeps_its_place_in_line_though_the_clock_goes_back(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS), trigger=Trigger(each_commit=True))
    for number in range(3):
        world.put({"a": str(number)})
        swept(world)
        world.world.sleep(-500)
    assert drive_all(world) == [("one", "success")] * 3
    assert world.shown("one-out") == {"a": "2"}


def test_pach_5_5_8_a_diamond_runs_each_pipeline_once_in_one_job_set(
    world: PipelineWorld,
) -> None:
    diamond(world)
    world.put({"a": "1"})
    (decided,) = swept(world)
    assert [job.pipeline for job in decided.jobs] == ["left", "right", "both"]
    assert sorted(drive_all(world)) == [(name, "success") for name in ("both", "left", "right")]
    assert swept(world) == ()
    assert world.shown("both-out") == {"both": "11"}


def test_pach_5_5_8_a_failing_arm_makes_what_hangs_below_it_unrunnable(
    world: PipelineWorld,
) -> None:
    diamond(world, right="broken")
    world.put({"a": "1"})
    (decided,) = swept(world)
    ended = dict(drive_all(world))
    assert ended == {"left": "success", "right": "failure", "both": "unrunnable"}
    assert {jobs_of(world, name)[0].job_set for name in ended} == {decided.id}
    assert swept(world) == ()


def test_an_update_runs_again_and_what_hangs_below_with_it(world: PipelineWorld) -> None:
    spec = made(world, "one", reads(PHOTOS))
    made(world, "two", reads("one-out"))
    world.put({"a": "x"})
    swept(world)
    drive_all(world)
    changed = {"steps.py": CODE["steps.py"].replace(b"file.read_text())\n\n", b'"new")\n\n', 1)}
    update_pipeline(world.lake, spec, CODE, namespaces=namespace_of)
    assert swept(world) == ()
    update_pipeline(world.lake, spec, changed, namespaces=namespace_of)
    swept(world)
    assert drive_all(world) == [("one", "success"), ("two", "success")]
    assert world.shown("two-out") == {"a": "new"}


def test_a_paused_pipeline_starts_nothing_until_it_is_resumed(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    set_paused(world.lake, "one", paused=True)
    world.put({"a": "1"})
    assert swept(world) == ()
    set_paused(world.lake, "one", paused=False)
    assert len(swept(world)) == 1


def test_a_pipeline_that_waits_for_commits_is_not_carried_along_by_the_one_above(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS))
    made(world, "two", reads("one-out"), trigger=Trigger(any=(TriggerTerm(commits=2),)))
    swept(world)
    drive_all(world)
    ended = []
    for text in "abc":
        world.put({"a": text})
        swept(world)
        drive_all(world)
        swept(world)
        ended.append([pipeline for pipeline, _ in drive_all(world)])
    assert [each for each in ended if each] != []
    assert len(jobs_of(world, "two")) < len(jobs_of(world, "one"))


def test_a_clock_ticks_once_however_many_look_at_it(world: PipelineWorld) -> None:
    made(world, "hourly", CronInput(name="clock", schedule="@hourly"), "note")
    graph = load_graph(world.lake)
    world.world.sleep(2 * 3600)
    assert len(tick(world.lake, graph)) == 1
    assert tick(world.lake, graph) == ()
    swept(world)
    assert drive_all(world) == [("hourly", "success")]
    assert world.shown("hourly-out")["last"].endswith(":00:00Z")


def test_a_run_on_another_branch_reuses_what_was_computed_and_leaves_main_alone(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1", "b": "2"})
    swept(world)
    drive_all(world)
    before = world.head("one-out").id
    world.world.sleep(2)
    create_branch(world.lake, world.repository(PHOTOS), BranchName("exp"), world.head(PHOTOS).id)
    run_by_hand(world.lake, ["one"], key="try", branch="exp")
    run_by_hand(world.lake, ["one"], key="try", branch="exp")
    assert len(drive_all(world)) == 1
    assert jobs_of(world, "one")[0].counts.processed == 0
    assert world.head("one-out").id == before
    assert world.shown("one-out", "exp") == {"a": "1", "b": "2"}


def test_a_scheduler_drives_a_whole_graph_by_turns(world: PipelineWorld) -> None:
    diamond(world)
    world.put({"a": "1"})
    engine = InProcess(world.world, world.lake.storage)

    class Done:
        def is_alive(self) -> bool:
            return False

    def start(job: Job) -> Done:
        run_job(world.lake, job.id, engine)
        return Done()

    scheduler = Scheduler(world.lake, start, failed=lambda error: pytest.fail(str(error)))
    for _ in range(6):
        scheduler.turn()
    assert world.shown("both-out") == {"both": "11"}
    assert len(jobs_of(world, "both")) == 1
