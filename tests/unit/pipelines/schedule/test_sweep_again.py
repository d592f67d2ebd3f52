# SPDX-License-Identifier: Apache-2.0
"""Sweeps over what is there no more, or again, or was set back; and what one sweep owes another."""

from collections.abc import Callable
from contextlib import suppress
from itertools import count

import msgspec
import pytest

from lochan.errors import InvalidInput, LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import ObjectKey, RepositoryId
from lochan.operations.create_repository import create_repository
from lochan.operations.hard_reset import hard_reset
from lochan.operations.put_object import put_object
from lochan.operations.repositories import delete_repository
from lochan.operations.reset import reset, reset_object
from lochan.pipelines.jobs.publish import fence
from lochan.pipelines.model.spec import CronInput, CrossInput, Trigger
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.schedule.sweep import sweep
from lochan.pipelines.schedule.ticks import tick
from lochan.pipelines.specs.registry import delete_pipeline, load_graph, update_pipeline
from support.pipeline_graph import CODE, drive_all, jobs_of, made, reads, settled, swept
from support.pipeline_world import MAIN, PHOTOS, PipelineWorld, namespace_of


@pytest.fixture
def world() -> PipelineWorld:
    return PipelineWorld.open(PHOTOS)


def drop(world: PipelineWorld, repository: str) -> None:
    """Lose the branch of a repository, as no operation would."""
    world.lake.tables(world.repository(repository)).branches.delete(MAIN.encode())


def test_a_pipeline_that_is_made_again_runs_on_what_is_there(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    settled(world)
    delete_pipeline(world.lake, "one")
    assert settled(world) == []
    made(world, "one", reads(PHOTOS))
    assert settled(world) == [("one", "skipped")]  # its output is there, and right


def test_a_pipeline_whose_author_asks_for_everything_again_runs(world: PipelineWorld) -> None:
    spec = made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    settled(world)
    update_pipeline(world.lake, spec, CODE, reprocess=True, namespaces=namespace_of)
    assert settled(world) == [("one", "success")]
    assert jobs_of(world, "one")[0].counts.processed == 1


def test_an_input_that_is_deleted_and_made_again_is_another(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    settled(world)
    delete_repository(world.lake, world.repository(PHOTOS))
    assert swept(world) == ()
    where = namespace_of("photos-again")
    create_repository(world.lake, RepositoryId(PHOTOS), where, MAIN, committer="ann")
    world.put({"b": "2"})
    assert settled(world) == [("one", "success")]
    assert world.shown("one-out") == {"b": "2"}


def test_a_branch_between_pipelines_that_is_set_back_runs_what_hangs_below(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS))
    made(world, "two", reads("one-out"))
    world.put({"a": "1"})
    settled(world)
    first = world.head("one-out")
    world.put({"a": "2"})
    settled(world)
    assert world.shown("two-out") == {"a": "2"}
    hard_reset(world.lake.forcing(), world.repository("one-out"), MAIN, first)
    assert settled(world) == [("two", "success")]
    assert world.shown("two-out") == {"a": "1"}


def test_a_job_set_by_hand_runs_what_hangs_below_once(world: PipelineWorld) -> None:
    made(world, "one", reads(PHOTOS))
    made(world, "two", reads("one-out"))
    world.put({"a": "1"})
    settled(world)
    world.put({"a": "2"})
    run_by_hand(world.lake, ["one"], key="now")
    drive_all(world)
    settled(world)
    assert [job.state.value for job in jobs_of(world, "two")].count("success") == 2


@pytest.mark.parametrize("has_read", [False, True])
def test_a_version_that_is_told_to_wait_for_another_branch_runs_on_what_is_there(
    world: PipelineWorld, *, has_read: bool
) -> None:
    """The branch's head is of the job set that the version before was in, or was read by it."""
    made(world, "left", reads(PHOTOS))
    beside = msgspec.structs.replace(reads("left-out", "right"), trigger=False)
    both = CrossInput(inputs=(reads(PHOTOS), beside)) if has_read else reads(PHOTOS)
    spec = made(world, "right", both, "either")
    world.put({"a": "x"})
    settled(world)
    world.put({"b": "y"})
    settled(world)
    other = msgspec.structs.replace(spec, input=reads("left-out", "right"))
    update_pipeline(world.lake, other, CODE, namespaces=namespace_of)
    assert settled(world) != []
    assert world.shown("right-out") == {"a": "x", "b": "y"}


@pytest.mark.parametrize("branch", ["../x", "a b", "a\0b", "-x"])
def test_a_run_on_a_branch_that_can_be_none_is_refused(world: PipelineWorld, branch: str) -> None:
    made(world, "one", reads(PHOTOS))
    with pytest.raises(InvalidInput, match="branch"):
        run_by_hand(world.lake, ["one"], branch=branch)
    assert jobs_of(world, "one") == []


@pytest.mark.parametrize("disturb", ["fence", "reset"])
def test_a_branch_whose_head_stays_starts_nothing(world: PipelineWorld, disturb: str) -> None:
    """Its record changes all the same: when a driver is fenced off, or staged changes go."""
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    settled(world)
    photos = world.repository(PHOTOS)
    if disturb == "fence":
        fence(world.lake, photos, MAIN)
    else:
        put_object(world.lake, photos, MAIN, ObjectKey(b"b"), b"")
        reset(world.lake, photos, MAIN)
    assert swept(world) == ()


def stage_and_forget(world: PipelineWorld, key: bytes | None) -> None:
    photos = world.repository(PHOTOS)
    put_object(world.lake, photos, MAIN, ObjectKey(b"b"), b"")
    if key is None:
        reset(world.lake, photos, MAIN)
    else:
        reset_object(world.lake, photos, MAIN, ObjectKey(key))


DISTURBANCES: dict[str, Callable[[PipelineWorld], object]] = {
    "nothing": lambda _: None,
    "reset": lambda world: stage_and_forget(world, None),
    "reset of a key": lambda world: stage_and_forget(world, b"b"),
    "fence": lambda world: fence(world.lake, world.repository(PHOTOS), MAIN),
    "hard reset to the head": lambda world: hard_reset(
        world.lake, world.repository(PHOTOS), MAIN, world.head(PHOTOS)
    ),
}


@pytest.mark.parametrize("trigger", [Trigger(), Trigger(each_commit=True)])
@pytest.mark.parametrize("first", [drive_all, swept])
@pytest.mark.parametrize("disturbance", DISTURBANCES)
def test_rel_P5_a_sweep_that_dies_anywhere_decides_a_commit_once_whatever_is_reset_after_it(
    world: PipelineWorld,
    disturbance: str,
    first: Callable[[PipelineWorld], object],
    trigger: Trigger,
) -> None:
    """It may have opened, or noted, the job of one pipeline of two; that one may have ended."""
    for name in ("one", "two"):
        made(world, name, reads(PHOTOS), trigger=trigger)
    settled(world)
    world.put({"a": "1"})
    for number in count(1):
        later = world.copy()
        store = Faulty(later.kept, fail_nth(number, Fault.CRASH_AFTER), later.world)
        with suppress(Crashed):
            sweep(later.again(store).lake, load_graph(later.lake))
        DISTURBANCES[disturbance](later)
        first(later)
        drive_all(later)
        settled(later)
        states = [[job.state.value for job in jobs_of(later, name)] for name in ("one", "two")]
        assert states == [["success", "skipped"]] * 2, f"it died after call {number}"
        if store.calls < number:
            break


def test_pach_5_5_11_each_commit_is_decided_once_though_sweeps_die_and_commits_come(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS), trigger=Trigger(each_commit=True))
    world.put({"a": "0"})
    settled(world)
    commits = []
    for number in range(8, 100, 8):
        commits.append(world.put({"a": str(number)}).id)
        store = Faulty(world.kept, fail_nth(number, Fault.CRASH_AFTER), world.world)
        with suppress(Crashed):
            sweep(world.again(store).lake, load_graph(world.lake))
    swept(world)
    drive_all(world)
    jobs = sorted(jobs_of(world, "one"), key=lambda job: (job.finished, job.created, job.order))
    assert [job.pins[0].commit for job in jobs][1:] == commits
    assert world.shown("one-out") == {"a": "96"}


def test_a_clock_without_its_repository_keeps_no_other_pipeline_waiting(
    world: PipelineWorld,
) -> None:
    made(world, "clocked", CronInput(name="clock", schedule="@hourly"), "note")
    made(world, "one", reads(PHOTOS))
    drop(world, "clocked-clock")
    world.put({"a": "1"})
    world.world.sleep(7200)
    told: list[LochanError] = []
    tick(world.lake, load_graph(world.lake), told.append)
    assert (len(told), settled(world)) == (1, [("one", "success")])
