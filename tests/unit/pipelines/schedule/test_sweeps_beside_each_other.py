# SPDX-License-Identifier: Apache-2.0
"""A sweep that stands still at any call while others commit, sweep and drive sets nothing back."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import count

import pytest

from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import ObjectKey
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.hard_reset import hard_reset
from lochan.operations.put_object import put_object
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.spec import Trigger
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.pipelines.schedule.scheduler import ready_jobs
from lochan.pipelines.schedule.sweep import sweep
from lochan.pipelines.specs.registry import load_graph, update_pipeline
from lochan.refs.log import log
from support.beside_sweeps import (
    OTHER,
    STORIES,
    Act,
    elsewhere,
    stale_sweeps,
    swept_and_driven,
)
from support.pipeline_graph import OTHER_CODE, drive_all, jobs_of, made, reads, settled, swept
from support.pipeline_world import MAIN, PHOTOS, PipelineWorld, namespace_of

HOUR_S = 3600.0


def commit_and_run(world: PipelineWorld) -> None:
    world.put({"a": "3"})
    swept_and_driven(world)


def run_and_commit(world: PipelineWorld) -> None:
    """What runs meanwhile is what the sweep decides; what comes then nobody has read."""
    swept_and_driven(world)
    world.put({"b": "new"}, to=OTHER)
    world.put({"c": "new"})


def drive_and_commit(world: PipelineWorld) -> None:
    drive_all(world)
    world.put({"b": "new"}, to=OTHER)


def commit_and_sweep(world: PipelineWorld) -> None:
    """Nothing is driven before the sweep goes on."""
    world.put({"a": "3"})
    sweep(world.lake, load_graph(world.lake))
    world.put({"b": "new"}, to=OTHER)


def go_and_come_back(world: PipelineWorld) -> None:
    """The last commit shows what was there before: its job has nothing to publish."""
    world.put({"a": "1"})
    swept_and_driven(world)


def set_back_and_run(world: PipelineWorld) -> None:
    photos = world.repository(PHOTOS)
    commits = list(log(world.lake.tables(photos), world.head(PHOTOS).id))
    hard_reset(world.lake, photos, MAIN, commits[2])
    swept_and_driven(world)


MEANWHILE: Mapping[str, Act] = {
    act.__name__.replace("_", " "): act
    for act in (
        commit_and_run,
        run_and_commit,
        drive_and_commit,
        commit_and_sweep,
        go_and_come_back,
        set_back_and_run,
    )
}


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("story", STORIES)
def test_a_sweep_that_stands_still_at_any_call_sets_no_output_back(
    story: str, meanwhile: str
) -> None:
    start = STORIES[story].begun()
    for number, world in stale_sweeps(start, MEANWHILE[meanwhile]):
        STORIES[story].require_shown(world, f"it stood still at call {number}")


@pytest.mark.parametrize("skew_s", [-HOUR_S, HOUR_S])
@pytest.mark.parametrize("story", ["one input", "two inputs", "diamond"])
def test_nor_does_one_whose_clock_is_wrong(story: str, skew_s: float) -> None:
    start = STORIES[story].begun()
    for number, world in stale_sweeps(start, commit_and_run, skew_s):
        STORIES[story].require_shown(world, f"it stood still at call {number}")


@pytest.mark.parametrize("story", STORIES)
def test_nor_does_the_first_sweep_of_all(story: str) -> None:
    start = STORIES[story].new()
    for number, world in stale_sweeps(start, commit_and_run):
        STORIES[story].require_shown(world, f"it stood still at call {number}")


@pytest.mark.parametrize("story", STORIES)
def test_a_sweep_that_dies_at_any_call_leaves_nothing_unread(story: str) -> None:
    start = STORIES[story].begun()
    start.put({"b": "1"}, to=OTHER)
    graph = load_graph(start.lake)
    for number in count(1):
        world = start.copy()
        store = Faulty(world.kept, fail_nth(number, Fault.CRASH_AFTER), world.world)
        with suppress(Crashed):
            sweep(world.again(store).lake, graph)
        drive_and_commit(world)
        STORIES[story].require_shown(world, f"it died after call {number}")
        if store.calls < number:
            return


@pytest.mark.parametrize("is_driven", [False, True])
@pytest.mark.parametrize("trigger", [Trigger(), Trigger(each_commit=True)])
def test_an_update_that_a_sweep_has_not_seen_is_not_undone_by_what_it_decides(
    trigger: Trigger, *, is_driven: bool
) -> None:
    world = PipelineWorld.open(PHOTOS)
    spec = made(world, "one", reads(PHOTOS), trigger=trigger)
    made(world, "two", reads("one-out"))
    for text in "12":
        settled(world)
        world.put({"a": text})

    def update(world: PipelineWorld) -> None:
        update_pipeline(world.lake, spec, OTHER_CODE, namespaces=namespace_of)
        world.put({"a": "3"})
        sweep(world.lake, load_graph(world.lake))
        if is_driven:
            drive_all(world)

    for number, later in stale_sweeps(world, update):
        settled(later)
        shown = later.shown("one-out"), later.shown("two-out")
        assert shown == ({"a": "other"}, {"a": "other"}), f"it stood still at call {number}"


@pytest.mark.parametrize("meanwhile", [swept, swept_and_driven])
@pytest.mark.parametrize("story", ["one input", "two inputs", "two pipelines", "diamond"])
def test_rel_P5_of_two_sweeps_at_once_one_decides_a_commit(story: str, meanwhile: Act) -> None:
    """Both see the same: whichever comes first, there is one set."""
    start = STORIES[story].begun()
    pipelines = [node.pipeline for node in load_graph(start.lake).nodes]
    before = [len(jobs_of(start, name)) for name in pipelines]
    for number, world in stale_sweeps(start, meanwhile):
        settled(world)
        more = [len(jobs_of(world, name)) for name in pipelines]
        assert more == [one + 1 for one in before], f"it stood still at call {number}"


def test_two_inputs_that_have_both_moved_are_taken_by_one_job() -> None:
    world = STORIES["two inputs"].begun()
    world.put({"b": "1"}, to=OTHER)
    before = len(jobs_of(world, "one"))
    assert settled(world) == [("one", "success")]
    assert len(jobs_of(world, "one")) == before + 1
    assert world.shown("one-out") == {"a": "2", "b": "1"}


def test_an_input_that_a_job_has_read_before_it_was_noted_needs_no_second_job() -> None:
    """The driver is quick: it has pinned all before the sweep that decided has noted anything."""
    start = STORIES["two inputs"].begun()
    start.put({"b": "1"}, to=OTHER)
    before = len(jobs_of(start, "one"))
    for number, world in stale_sweeps(start, drive_all):
        settled(world)
        assert len(jobs_of(world, "one")) == before + 1, f"it stood still at call {number}"


def test_a_branch_that_was_away_and_came_back_is_looked_at_again() -> None:
    """A job that somebody asked for has read it meanwhile, and nobody noted that."""
    world = PipelineWorld.open(PHOTOS)
    made(world, "one", reads(PHOTOS))
    world.put({"a": "1"})
    settled(world)
    first = world.head(PHOTOS)
    world.put({"a": "2"})
    run_by_hand(world.lake, ["one"], key="now")
    drive_all(world)
    hard_reset(world.lake, world.repository(PHOTOS), MAIN, first)
    settled(world)
    assert world.shown("one-out") == {"a": "1"}


def test_what_comes_upon_a_job_of_the_set_before_the_next_one_is_driven_is_read() -> None:
    """That one reads what the set says; the branch was noted when it had more already."""
    start = PipelineWorld.open(PHOTOS)
    made(start, "one", reads(PHOTOS))
    made(start, "two", reads("one-out"))
    start.put({"a": "1"})
    settled(start)
    start.put({"a": "2"})

    def drive_one_and_write(world: PipelineWorld) -> None:
        for job in list(ready_jobs(world.lake)):
            run_job(world.lake, job.id, InProcess(world.world, world.lake.storage))
        lake, output = world.lake.forcing(), world.repository("one-out")
        put_object(lake, output, MAIN, ObjectKey(b"x"), b"by hand")
        commit(lake, output, MAIN, CommitRequest("eve", "mine"))

    for number, world in stale_sweeps(start, drive_one_and_write):
        settled(world)
        assert world.shown("two-out") == world.shown("one-out"), f"it stood still at call {number}"


def test_a_commit_that_a_job_by_hand_has_read_needs_no_other_job() -> None:
    world = STORIES["one input"].begun()
    run_by_hand(world.lake, ["one"], key="now")
    assert drive_all(world) == [("one", "success")]
    assert settled(world) == []


def test_it_needs_one_where_the_output_is_not_as_that_job_has_left_it() -> None:
    world = STORIES["one input"].begun()
    before = world.head("one-out")
    run_by_hand(world.lake, ["one"], key="now")
    drive_all(world)
    hard_reset(world.lake.forcing(), world.repository("one-out"), MAIN, before)
    settled(world)
    assert world.shown("one-out") == {"a": "2"}


def test_a_set_is_younger_than_the_last_jobs_of_all_its_pipelines_whatever_the_clock_says() -> None:
    world = STORIES["diamond"].begun()
    slow = elsewhere(world, -HOUR_S)
    (decided,) = sweep(slow.lake, load_graph(slow.lake))
    for job in decided.jobs:
        newest, before = jobs_of(world, job.pipeline)[:2]
        assert newest.id == job.job
        assert newest.created // 1_000_000 > before.created // 1_000_000
