# SPDX-License-Identifier: Apache-2.0
"""Many files at the same time: the first failure stops what has not begun, and is raised."""

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, wait
from typing import TypeVar

from lochan.cli.progress import Bar
from lochan.environment import Environment

T = TypeVar("T")
R = TypeVar("R")


def each(
    environment: Environment, threads: int, work: Callable[[T], R], things: Iterable[T]
) -> list[R]:
    """Do the same to many things, some at a time, and give the results in order."""
    with environment.executor(threads) as pool:
        begun = [pool.submit(work, thing) for thing in things]
        try:
            wait(begun, return_when=FIRST_EXCEPTION)
            failed = [one for one in begun if one.done() and one.exception() is not None]
            for one in failed:
                one.result()
            return [one.result() for one in begun]
        finally:
            for one in begun:
                one.cancel()


class Share:
    """What one file adds to a bar that all files share; its call fits progress callbacks."""

    def __init__(self, bar: Bar) -> None:
        """Begin with nothing."""
        self._bar = bar
        self._done = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Tell how far the file is; one that begins again takes back what it had."""
        del total  # the bar knows the sum
        self._bar.advance(done - self._done)
        self._done = done
