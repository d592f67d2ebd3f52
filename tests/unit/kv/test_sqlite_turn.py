# SPDX-License-Identifier: Apache-2.0
import fcntl
from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Unavailable
from lochan.kv.drivers.sqlite_turn import Turn

ENVIRONMENT = RealEnvironment()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kv.db"


class Paused(RealEnvironment):
    """An environment whose time is what was slept."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return sum(self.pauses)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


def test_who_stands_in_the_queue_comes_before_who_had_a_turn(path: Path) -> None:
    first, second = (Turn(path, ENVIRONMENT, patience_s=0.05) for _ in range(2))
    with first:
        fcntl.flock(second._queue, fcntl.LOCK_EX)  # the second waits for its turn
    with pytest.raises(Unavailable), first:
        pass
    fcntl.flock(second._queue, fcntl.LOCK_UN)
    with second, pytest.raises(Unavailable), first:
        pass
    for turn in (first, second):
        turn.close()


def test_who_waits_for_a_turn_looks_often_at_first_and_seldom_later(path: Path) -> None:
    paused = Paused()
    holder, waiter = Turn(path, ENVIRONMENT, patience_s=1), Turn(path, paused, patience_s=1)
    with holder, pytest.raises(Unavailable), waiter:
        pass
    assert max(paused.pauses[:10]) <= 0.0001, "a turn is shorter than a millisecond"
    assert max(paused.pauses) == paused.pauses[-1] == 0.002
    for turn in (holder, waiter):
        turn.close()
