# SPDX-License-Identifier: Apache-2.0
"""A driver keeps its lease while it works, and hears of what ends its work."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from lochan.errors import JobFailed
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.pipelines.jobs.driving import TOLD_S, Driving
from lochan.pipelines.jobs.job_records import LEASE_S, RENEWED_S, ask_kill, claim, get_job
from lochan.pipelines.model.failures import JobKilled, LeaseLost
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.work import Progress
from support.lake_ground import QuietWorld
from support.pipeline_world import PipelineWorld


class _Over(Exception):
    """The time of a test is over."""


class BeatenWorld(QuietWorld):
    """Keeps what is to go on beside others; a test runs it, for so many seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.beside: Callable[[], None] = lambda: None
        self.ends_at = float("inf")

    def spawn(self, work: Callable[[], None], *, name: str) -> None:  # noqa: ARG002 - as declared
        self.beside = work

    def sleep(self, seconds: float) -> None:
        if self.time_s + seconds > self.ends_at:
            self.ends_at = float("inf")
            raise _Over
        super().sleep(seconds)

    def pass_by(self, seconds: float) -> None:
        """Let what goes on beside others go on for a while."""
        self.ends_at = self.time_s + seconds
        with pytest.raises(_Over):
            self.beside()


@pytest.fixture
def beaten() -> BeatenWorld:
    return BeatenWorld()


@pytest.fixture
def world(beaten: BeatenWorld) -> PipelineWorld:
    ground = PipelineWorld.open()
    ground.create()
    ground.decide(ground.put({"a": "one"}))
    beaten.begin_at(ground.world.time_s, ids=1_000_000)
    return replace(ground, world=beaten).again()


def claimed(world: PipelineWorld) -> Job:
    return claim(world.lake, world.decided[0].jobs[0].job)


def test_the_lease_is_kept_while_the_driver_says_nothing(
    world: PipelineWorld, beaten: BeatenWorld
) -> None:
    driving = Driving(world.lake, claimed(world))
    with driving.beating():
        beaten.pass_by(3 * LEASE_S)
        kept = get_job(world.kept, driving.job.id)
    assert kept.lease_until > (beaten.now() + LEASE_S - RENEWED_S - 2 * TOLD_S) * 1e9
    beaten.beside()  # it ends by itself


def test_a_lease_that_is_lost_ends_the_work_at_the_next_word(
    world: PipelineWorld, beaten: BeatenWorld
) -> None:
    driving = Driving(world.lake, claimed(world))
    with driving.beating():
        beaten.sleep(LEASE_S)
        other = claimed(world)
        beaten.beside()
        with pytest.raises(LeaseLost):
            driving.tell(Progress())
    assert get_job(world.kept, other.id) == other


def test_a_store_that_does_not_answer_for_a_while_costs_nothing(
    world: PipelineWorld, beaten: BeatenWorld
) -> None:
    down_until = beaten.now() + LEASE_S / 2

    def down(_: Call) -> Fault:
        return Fault.ERROR if beaten.now() < down_until else Fault.OK

    driving = Driving(world.again(Faulty(world.kept, down, beaten)).lake, claimed(world))
    with driving.beating():
        beaten.pass_by(LEASE_S)
        driving.tell(Progress())
    assert get_job(world.kept, driving.job.id).lease_until > beaten.now() * 1e9


def test_how_far_it_is_is_written_down_once_a_second_at_most(
    world: PipelineWorld, beaten: BeatenWorld
) -> None:
    driving = Driving(world.lake, claimed(world))
    driving.tell(Progress(datums_done=1))
    assert get_job(world.kept, driving.job.id).progress == Progress()
    beaten.sleep(TOLD_S)
    driving.tell(Progress(datums_done=2))
    beaten.sleep(TOLD_S / 2)
    driving.tell(Progress(datums_done=3))
    assert get_job(world.kept, driving.job.id).progress.datums_done == 2


def test_a_kill_is_heard_with_the_next_word(world: PipelineWorld, beaten: BeatenWorld) -> None:
    driving = Driving(world.lake, claimed(world))
    ask_kill(world.lake, driving.job.id)
    beaten.sleep(TOLD_S)
    with pytest.raises(JobKilled):
        driving.tell(Progress(datums_done=1))


def test_a_job_that_takes_longer_than_it_may_is_ended(
    world: PipelineWorld, beaten: BeatenWorld
) -> None:
    driving = Driving(world.lake, claimed(world), timeout_s=5)
    beaten.sleep(5)
    driving.tell(Progress())
    beaten.sleep(1)
    with pytest.raises(JobFailed, match="longer than 5 s"):
        driving.tell(Progress())
