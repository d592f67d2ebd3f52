# SPDX-License-Identifier: Apache-2.0
"""An environment whose clock a test turns, and whose background work a test runs by hand."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from lochan.environment import RealEnvironment


class _Held(Executor):
    def __init__(self, held: list[Callable[[], object]]) -> None:
        self._held = held

    def submit(self, fn: Callable[..., Any], /, *args: object, **kwargs: object) -> Future[Any]:
        self._held.append(lambda: fn(*args, **kwargs))
        return Future()

    def shutdown(
        self,
        wait: bool = True,  # noqa: FBT001, FBT002 - the standard library's signature
        *,
        cancel_futures: bool = False,
    ) -> None:
        del wait, cancel_futures
        while self._held:
            self._held.pop(0)()


class HandRun(RealEnvironment):
    """Tasks wait until they are run; heartbeats come when they are asked for."""

    def __init__(self) -> None:
        self.moment = 1_700_000_000.0
        self.held: list[Callable[[], object]] = []
        self.spawned: list[Callable[[], None]] = []

    def now(self) -> float:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.moment += seconds

    def executor(self, threads: int, *, background: bool = False) -> Executor:
        del threads, background
        return _Held(self.held)

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        del name
        self.spawned.append(work)

    def run_tasks(self) -> None:
        """Work on everything that waits."""
        while self.held:
            self.held.pop(0)()
