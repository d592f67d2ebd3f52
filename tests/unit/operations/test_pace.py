# SPDX-License-Identifier: Apache-2.0
"""How long a story rests between its pieces of work."""

import pytest

from lochan.environment import RealEnvironment
from lochan.kv.drivers.memory import MemoryStore
from lochan.operations.pace import BUSY_S, LONGEST_S, SHORTEST_S, TIMES, Pace
from support.lakes import MAIN, Stage, open_stage


class Watched(RealEnvironment):
    """An environment whose clock stands until it is moved, and that remembers who slept."""

    def __init__(self) -> None:
        self.time_s = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.time_s

    def preemptions(self) -> int:
        return 0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time_s += seconds


def opened() -> tuple[Watched, Stage, Pace]:
    world = Watched()
    stage = open_stage(MemoryStore(world), world)
    pace = Pace(stage.lake)
    pace.breathe()
    return world, stage, pace


def ask(stage: Stage) -> None:
    stage.lake.branches.fresh(stage.repository, MAIN)


@pytest.mark.parametrize(
    ("took_s", "rest_s"),
    [(0.0001, SHORTEST_S), (0.004, TIMES * 0.004), (1.0, LONGEST_S)],
)
def test_a_rest_is_twice_as_long_as_the_work_within_bounds(took_s: float, rest_s: float) -> None:
    world, stage, pace = opened()
    ask(stage)
    world.time_s += took_s
    pace.breathe()
    assert world.slept == pytest.approx([rest_s])


def test_a_rest_is_not_work() -> None:
    world, stage, pace = opened()
    for _ in range(3):
        ask(stage)
        world.time_s += 0.004
        pace.breathe()
    assert world.slept == pytest.approx([TIMES * 0.004] * 3)


def test_nobody_rests_beside_nobody() -> None:
    world, _, pace = opened()
    for _ in range(3):
        world.time_s += 0.004
        pace.breathe()
    assert world.slept == []


def test_who_has_not_been_seen_for_a_while_is_not_waited_for() -> None:
    world, stage, pace = opened()
    ask(stage)
    pace.breathe()
    world.time_s += BUSY_S
    pace.breathe()
    assert world.slept == [SHORTEST_S]
