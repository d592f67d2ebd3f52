# SPDX-License-Identifier: Apache-2.0
"""Clocks: which ticks are there, and what a clock does that was disturbed."""

from contextlib import suppress

import pytest

from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import ObjectKey
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.put_object import put_object
from lochan.pipelines.model.spec import CronInput
from lochan.pipelines.schedule.ticks import tick
from lochan.pipelines.specs.registry import load_graph, set_paused
from support.pipeline_graph import drive_all, made, swept
from support.pipeline_world import MAIN, PHOTOS, PipelineWorld

HOUR_S = 3600.0
CLOCK = "clocked-clock"


def clocked(*, overwrite: bool) -> PipelineWorld:
    """A pipeline that runs by the hour; the first tick has not come."""
    world = PipelineWorld.open(PHOTOS)
    clock = CronInput(name="clock", schedule="@hourly", overwrite=overwrite)
    made(world, "clocked", clock, "note" if overwrite else "notes")
    return world


def ticked(world: PipelineWorld, hours: float = 1) -> int:
    world.world.sleep(hours * HOUR_S)
    return len(tick(world.lake, load_graph(world.lake)))


def ticks(world: PipelineWorld) -> list[str]:
    return sorted(world.shown(CLOCK))


def disturbed(world: PipelineWorld, key: bytes) -> None:
    """Put a file into the clock's repository, as only who insists can."""
    where = world.lake.forcing(), world.repository(CLOCK), MAIN
    put_object(*where, ObjectKey(key), b"")
    commit(*where, CommitRequest("eve", "mine"))


def test_a_clock_that_overwrites_shows_its_newest_tick_alone() -> None:
    world = clocked(overwrite=True)
    assert [ticked(world) for _ in range(3)] == [1, 1, 1]
    assert len(ticks(world)) == 1
    swept(world)
    assert drive_all(world) == [("clocked", "success")]
    assert world.shown("clocked-out") == {"last": ticks(world)[0]}


def test_a_clock_that_does_not_overwrite_keeps_all_ticks_and_each_is_a_datum() -> None:
    world = clocked(overwrite=False)
    for number in range(1, 4):
        ticked(world)
        swept(world)
        drive_all(world)
        assert len(ticks(world)) == number
    assert sorted(world.shown("clocked-out")) == ticks(world)


def test_a_clock_that_nobody_looked_at_ticks_once() -> None:
    world = clocked(overwrite=False)
    assert ticked(world, hours=50) == 1
    assert ticked(world, hours=0) == 0
    assert len(ticks(world)) == 1


def test_a_paused_pipelines_clock_stands_still() -> None:
    world = clocked(overwrite=True)
    set_paused(world.lake, "clocked", paused=True)
    assert ticked(world, hours=5) == 0


@pytest.mark.parametrize("overwrite", [True, False])
def test_files_that_are_no_ticks_are_left_alone_and_stop_no_clock(*, overwrite: bool) -> None:
    world = clocked(overwrite=overwrite)
    ticked(world)
    disturbed(world, b"not a tick")
    assert ticked(world, hours=0) == 0
    assert ticked(world) == 1
    assert ticks(world)[-1] == "not a tick"


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_scheduler_that_dies_between_two_steps_leaves_one_tick_for_the_next(
    *, overwrite: bool
) -> None:
    world = clocked(overwrite=overwrite)
    graph = load_graph(world.lake)
    for number in range(0, 60, 3):
        world.world.sleep(HOUR_S)
        store = Faulty(world.kept, fail_nth(number, Fault.CRASH_AFTER), world.world)
        with suppress(Crashed):
            tick(world.again(store).lake, graph)
    assert ticked(world) == 1
    assert (len(ticks(world)) == 1) == overwrite


def test_a_look_at_a_clock_does_not_list_its_ticks() -> None:
    world = clocked(overwrite=False)
    for _ in range(3):
        ticked(world)
    fresh = world.again()
    files = fresh.lake.storage(world.repository(CLOCK).storage_namespace).snapshots.files
    assert ticked(fresh, hours=0) == 0
    assert files.opened == 0
