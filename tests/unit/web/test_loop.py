# SPDX-License-Identifier: Apache-2.0
"""The workers' event loop: a signal that comes while others wake it is not lost."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing

import pytest

from lochan.web.adapter import Loop

WAKINGS = 5_000  # a socket between two ends of Linux holds some 280 single bytes


@pytest.fixture(autouse=True)
def handler_kept() -> Iterator[None]:
    kept = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, kept)


def test_a_signal_reaches_a_loop_that_has_thousands_of_wakings_to_read() -> None:
    told: list[str] = []
    with closing(Loop()) as loop:
        loop.add_signal_handler(signal.SIGUSR1, told.append, "ended")
        for _ in range(WAKINGS):
            loop.call_soon_threadsafe(int)
        os.kill(os.getpid(), signal.SIGUSR1)
        loop.call_later(1, loop.stop)
        loop.run_forever()
        loop.remove_signal_handler(signal.SIGUSR1)
    assert told == ["ended"]


def test_a_signal_ends_the_wait_of_an_idle_loop() -> None:
    with closing(Loop()) as loop:
        loop.add_signal_handler(signal.SIGUSR1, loop.stop)
        loop.call_later(0.05, os.kill, os.getpid(), signal.SIGUSR1)
        loop.call_later(30, pytest.fail, "the signal did not come")
        loop.run_forever()
        loop.remove_signal_handler(signal.SIGUSR1)
