# SPDX-License-Identifier: Apache-2.0
"""Turns of a scheduler: how many drivers start, in which order, and what a failing turn costs."""

from dataclasses import dataclass, field

import msgspec
import pytest

from lochan.errors import LochanError
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.jobs.job_records import LEASE_S, claim
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.spec import Trigger
from lochan.pipelines.model.tables import PipelineTables, version_name
from lochan.pipelines.schedule.scheduler import Scheduler, ready_jobs
from lochan.pipelines.specs.registry import set_paused
from support.pipeline_graph import jobs_of, made, reads, swept
from support.pipeline_world import PHOTOS, PipelineWorld


@dataclass
class Drivers:
    """Drivers that a test lets run and die."""

    world: PipelineWorld
    started: list[str] = field(default_factory=list)  # pipelines
    alive: set[str] = field(default_factory=set)  # jobs
    told: list[LochanError] = field(default_factory=list)

    def start(self, job: Job) -> "Driver":
        self.started.append(job.pipeline)
        self.alive.add(job.id)
        return Driver(self, job.id)

    def scheduler(self, at_once: int = 1) -> Scheduler:
        return Scheduler(self.world.lake, self.start, self.told.append, at_once=at_once)

    def end(self, *, having_run: bool) -> None:
        """Let all drivers end."""
        for job in self.alive:
            if having_run:
                run_job(self.world.lake, job, InProcess(self.world.world, self.world.lake.storage))
        self.alive.clear()


@dataclass(frozen=True)
class Driver:
    drivers: Drivers
    job: str

    def is_alive(self) -> bool:
        return self.job in self.drivers.alive


@pytest.fixture
def drivers() -> Drivers:
    return Drivers(PipelineWorld.open(PHOTOS))


def test_no_more_drivers_run_at_once_than_were_allowed(drivers: Drivers) -> None:
    for name in ("one", "two", "three"):
        made(drivers.world, name, reads(PHOTOS))
    scheduler = drivers.scheduler(at_once=2)
    for _ in range(3):
        scheduler.turn()
    assert (len(drivers.started), len(scheduler.driven)) == (2, 2)
    drivers.end(having_run=True)
    scheduler.turn()
    assert sorted(drivers.started) == ["one", "three", "two"]


def test_jobs_of_one_pipeline_are_driven_one_by_one_the_oldest_first(drivers: Drivers) -> None:
    world = drivers.world
    made(world, "one", reads(PHOTOS), trigger=Trigger(each_commit=True))
    world.put({"a": "0"})
    swept(world)
    commits = [world.put({"a": str(number)}).id for number in range(3)]
    scheduler = drivers.scheduler(at_once=9)
    for _ in range(5):
        scheduler.turn()
        assert len(drivers.alive) <= 1
        drivers.end(having_run=True)
    ran = sorted(jobs_of(world, "one"), key=lambda job: (job.created, job.order))
    assert [job.pins[0].commit for job in ran[1:]] == commits
    assert world.shown("one-out") == {"a": "2"}


def test_a_driver_that_never_claims_its_job_is_started_again_later_each_time(
    drivers: Drivers,
) -> None:
    made(drivers.world, "one", reads(PHOTOS))
    scheduler = drivers.scheduler()
    for _ in range(100):
        scheduler.turn()
        drivers.end(having_run=False)
        drivers.world.world.sleep(1)
    assert 5 <= len(drivers.started) <= 8


def test_a_driver_that_died_in_the_middle_is_followed_when_its_lease_is_over(
    drivers: Drivers,
) -> None:
    made(drivers.world, "one", reads(PHOTOS))
    scheduler = drivers.scheduler()
    scheduler.turn()
    (job,) = drivers.alive
    claim(drivers.world.lake, job)
    drivers.end(having_run=False)
    scheduler.turn()
    drivers.world.world.sleep(LEASE_S + 1)
    scheduler.turn()
    assert drivers.started == ["one", "one"]


def test_a_turn_that_fails_is_told_and_the_next_one_does_its_work(drivers: Drivers) -> None:
    made(drivers.world, "one", reads(PHOTOS))
    is_down = [True]

    def down(_: Call) -> Fault:
        return Fault.ERROR if is_down[0] else Fault.OK

    store = Faulty(drivers.world.kept, down, drivers.world.world)
    drivers.world = drivers.world.again(store)
    scheduler = drivers.scheduler()
    scheduler.turn()
    assert (drivers.started, len(drivers.told)) == ([], 3)
    is_down[0] = False
    scheduler.turn()
    assert drivers.started == ["one"]


def test_a_job_without_its_set_keeps_no_other_waiting(drivers: Drivers) -> None:
    world = drivers.world
    made(world, "one", reads(PHOTOS))
    made(world, "two", reads(PHOTOS))
    swept(world)
    lost = jobs_of(world, "one")[0]
    tables = PipelineTables.of(world.lake.store)
    tables.jobs.set(lost.id.encode(), msgspec.structs.replace(lost, job_set="lost"))
    drivers.scheduler(at_once=9).turn()
    assert (drivers.started, [error.code for error in drivers.told]) == (
        ["two"],
        ["job-set-not-found"],
    )


def test_a_pipeline_whose_version_is_lost_keeps_no_other_waiting(drivers: Drivers) -> None:
    world = drivers.world
    made(world, "one", reads(PHOTOS))
    made(world, "two", reads(PHOTOS))
    tables = PipelineTables.of(world.lake.store)
    version = tables.specs.get(b"one").record.version
    tables.versions.delete(version_name("one", version))
    drivers.scheduler(at_once=9).turn()
    assert drivers.started == ["two"]
    assert [error.code for error in drivers.told] == ["pipeline-version-not-found"]


def test_a_job_set_is_read_once_a_turn_however_many_jobs_it_has(drivers: Drivers) -> None:
    world = drivers.world
    for number in range(12):
        made(world, f"p{number}", reads(PHOTOS))
    swept(world)
    reading: list[bytes] = []

    def look(call: Call) -> Fault:
        if call.operation == "get" and call.key.startswith(b"jobsets/"):
            reading.append(call.key)
        return Fault.OK

    store = Faulty(world.kept, look, world.world)
    assert len(list(ready_jobs(world.again(store).lake))) == 12
    assert len(reading) == 1


def test_specs_are_read_again_only_when_a_pipeline_was_changed(drivers: Drivers) -> None:
    made(drivers.world, "one", reads(PHOTOS))
    reading: list[bytes] = []

    def look(call: Call) -> Fault:
        if call.operation == "get" and call.key.startswith(b"versions/"):
            reading.append(call.key)
        return Fault.OK

    store = Faulty(drivers.world.kept, look, drivers.world.world)
    lake = drivers.world.again(store).lake
    scheduler = Scheduler(lake, drivers.start, drivers.told.append, at_once=0)
    scheduler.turn()
    reading.clear()
    scheduler.turn()
    assert reading == []
    set_paused(lake, "one", paused=True)
    scheduler.turn()
    assert len(reading) == 1
