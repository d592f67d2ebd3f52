# SPDX-License-Identifier: Apache-2.0
"""Turns when somebody is interrupted: nobody waits for ever, and nobody is told too much."""

from collections.abc import Sequence
from threading import Thread

import pytest

from lochan.environment import Event, RealEnvironment
from lochan.errors import UnknownOutcome
from lochan.turns import Turns

REAL = RealEnvironment()
PATIENCE_S = 30


class Interrupting(RealEnvironment):
    """An environment in which the first wait is interrupted, as by Ctrl-C."""

    def event(self) -> Event:
        made = super().event()
        return _Interrupted(self, made)

    interrupted = False


class _Interrupted:
    def __init__(self, world: Interrupting, event: Event) -> None:
        self._world, self._event = world, event
        self.set = event.set

    def wait(self) -> object:
        if not self._world.interrupted:
            self._world.interrupted = True
            raise KeyboardInterrupt
        return self._event.wait()


def test_a_leader_that_is_interrupted_while_it_waits_leaves_nobody_waiting() -> None:
    world = Interrupting()
    turns = Turns[str](world)
    done: list[str] = []
    threads: list[Thread] = []

    def ask(item: str) -> None:
        turns.take("key", item, done.extend)

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            ask("interrupted")

    def first(items: Sequence[str]) -> None:
        done.extend(items)
        threads.append(Thread(target=interrupted, daemon=True))
        threads[-1].start()
        while not world.interrupted:
            REAL.sleep(0.001)
        threads.append(Thread(target=ask, args=["joined"], daemon=True))
        threads[-1].start()

    turns.take("key", "first", first)
    for thread in threads:
        thread.join(PATIENCE_S)
    ask("last")
    assert sorted(done) == ["first", "interrupted", "joined", "last"]


def test_who_is_answered_by_an_interrupted_caller_hears_that_nobody_knows() -> None:
    turns, errors = Turns[str](REAL), list[type[BaseException]]()
    threads: list[Thread] = []

    def interrupt(_: Sequence[str]) -> None:
        raise KeyboardInterrupt

    def ask() -> None:
        try:
            turns.take("key", "item", interrupt)
        except BaseException as error:  # noqa: BLE001 - the kind of error is what is tested
            errors.append(type(error))

    def first(_: Sequence[str]) -> None:
        for number in (1, 2):
            threads.append(Thread(target=ask, daemon=True))
            threads[-1].start()
            while len(_gathered(turns)) < number:
                REAL.sleep(0.001)

    turns.take("key", "item", first)
    for thread in threads:
        thread.join(PATIENCE_S)
    assert set(errors) == {KeyboardInterrupt, UnknownOutcome}


def _gathered(turns: Turns[str]) -> list[str]:
    batch = turns._gathering.get("key")
    return list(batch.items) if batch else []
