# SPDX-License-Identifier: Apache-2.0
"""An Environment for what one simulated process has for itself.

Locks and events that nobody else ever touches can make nobody wait, so they are no switch points:
the explorer is spared steps whose order cannot matter. A wait that could not end at once shows that
somebody else was meant to end it, and is refused: such things belong under the world's own
environment. Sleeping takes no time: a clock that moves would tie everybody to everybody.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from types import TracebackType

from lochan.committed.parallel import OwnThread
from lochan.environment import Event
from lochan.testing.simulation.environment import SimulatedEnvironment


class _OwnLock(AbstractContextManager[object]):
    """A lock of one process, which takes it one step deep only."""

    def __init__(self) -> None:
        self._held = False

    def __enter__(self) -> object:
        if self._held:
            raise RuntimeError("a lock of one process was taken twice; is it shared after all?")
        self._held = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._held = False


class _OwnEvent:
    """An event that has happened before its only process waits for it."""

    def __init__(self) -> None:
        self._happened = False

    def set(self) -> None:
        self._happened = True

    def wait(self) -> object:
        if not self._happened:
            raise RuntimeError("a process waits for itself; is the event shared after all?")
        return True


class SoloEnvironment:
    """The world's clocks and chance; locks, events and threads of one process."""

    def __init__(self, world: SimulatedEnvironment) -> None:
        """Ask `world` for time, ids and chance."""
        self._world = world

    def now(self) -> float:
        """Read the virtual wall clock."""
        return self._world.now()

    def monotonic(self) -> float:
        """Read the virtual clock that never jumps."""
        return self._world.monotonic()

    def sleep(self, seconds: float) -> None:
        """Go on at once."""

    def new_id(self) -> str:
        """Draw 32 hex digits."""
        return self._world.new_id()

    def random_bytes(self, count: int) -> bytes:
        """Draw bytes."""
        return self._world.random_bytes(count)

    def lock(self) -> AbstractContextManager[object]:
        """Make a lock that is always free."""
        return _OwnLock()

    def event(self) -> Event:
        """Make an event that the waiting process has set itself."""
        return _OwnEvent()

    def executor(self, threads: int, *, background: bool = False) -> Executor:  # noqa: ARG002 - one process, one thread
        """Make an executor that runs work inline."""
        return OwnThread()

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        """Start a background process of the world, which nobody waits for."""
        self._world.spawn(work, name=name)

    def preemptions(self) -> int:
        """Nobody is: turns end where calls do."""
        return 0
