# SPDX-License-Identifier: Apache-2.0
"""An Environment in which nothing happens by itself.

Time stands still until somebody sleeps. Ids and random bytes come from streams of their process, so
that what one process draws does not depend on when others drew. Taking a lock and waiting for an
event hand over to the schedule; releasing and setting do not, because whoever may go on then can
also go on later. An executor runs its work where it is submitted.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from lochan.committed.parallel import OwnThread
from lochan.environment import Event
from lochan.testing.simulation.access import Mode
from lochan.testing.simulation.chance import Chance
from lochan.testing.simulation.turns import Turns

EPOCH = 1_700_000_000.0  # where virtual wall clocks begin; any time will do


class SimulatedLock(AbstractContextManager[object]):
    """Mutual exclusion among processes that take turns."""

    def __init__(self, turns: Turns) -> None:
        """Begin free."""
        self._turns = turns
        self._holder: object = None
        self._thing = turns.thing("lock")

    def __enter__(self) -> Self:
        """Take it when it is free and the schedule says so."""
        self._turns.switch("acquire", ready=lambda: self._holder is None)
        if self._holder is not None:
            raise RuntimeError("a lock was taken twice where nobody else can give it back")
        self._turns.touch(self._thing, None, Mode.ACQUIRE)
        self._holder = self._turns.current or self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give it back; the dead take their locks with them."""
        if self._turns.current is None or not self._turns.current.dead:
            self._turns.touch(self._thing, None, Mode.SIGNAL)
            self._holder = None


class SimulatedEvent:
    """Something that happens once."""

    def __init__(self, turns: Turns) -> None:
        """Begin as something that has not happened."""
        self._turns = turns
        self._happened = False
        self._thing = turns.thing("event")

    def set(self) -> None:
        """Let it happen; the dead can do nothing any more."""
        if self._turns.current is None or not self._turns.current.dead:
            mode = Mode.AGAIN if self._happened else Mode.SIGNAL
            self._turns.touch(self._thing, None, mode)
            self._happened = True

    def wait(self) -> object:
        """Hand over until it has happened."""
        self._turns.switch("wait", ready=lambda: self._happened)
        if not self._happened:
            raise RuntimeError("a wait that nobody can end")
        self._turns.touch(self._thing, None, Mode.WAIT)
        return True


class SimulatedEnvironment:
    """Clocks, ids, randomness, locks and background work under one seed."""

    def __init__(self, seed: int, turns: Turns) -> None:
        """Take turns from `turns`, and chance from the seed."""
        self._seed = seed
        self._turns = turns
        self._chances: dict[str, Chance] = {}
        self._jumped = 0.0

    def now(self) -> float:
        """Read the virtual wall clock."""
        self._turns.touch("clock", None, Mode.READ)
        return EPOCH + self._turns.elapsed + self._jumped

    def monotonic(self) -> float:
        """Read the virtual clock that never jumps."""
        self._turns.touch("clock", None, Mode.READ)
        return self._turns.elapsed

    def sleep(self, seconds: float) -> None:
        """Hand over until virtual time has passed."""
        if self._turns.current is None:
            self._turns.elapsed += seconds
        else:
            self._turns.switch("sleep", wake=self._turns.elapsed + seconds)

    def new_id(self) -> str:
        """Draw 32 hex digits."""
        return self.chance("ids").bytes(16).hex()

    def random_bytes(self, count: int) -> bytes:
        """Draw bytes."""
        return self.chance("bytes").bytes(count)

    def lock(self) -> SimulatedLock:
        """Make a lock."""
        return SimulatedLock(self._turns)

    def event(self) -> Event:
        """Make an event."""
        return SimulatedEvent(self._turns)

    def executor(self, threads: int, *, background: bool = False) -> Executor:  # noqa: ARG002 - one turn at a time is all there is
        """Make an executor that runs work inline."""
        return OwnThread()

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        """Start a background process, which nobody waits for."""
        self._turns.spawn(work, name, None, foreground=False)

    def preemptions(self) -> int:
        """Nobody is: turns end where calls do."""
        return 0

    def jump(self, seconds: float) -> None:
        """Move the wall clock, back or forth; the monotonic one does not notice."""
        self._turns.touch("clock", None, Mode.WRITE)
        self._jumped += seconds

    def chance(self, purpose: str) -> Chance:
        """Give the current process's stream for a purpose."""
        process = self._turns.current.name if self._turns.current else "the tester"
        name = f"{process}/{purpose}"
        if name not in self._chances:
            self._chances[name] = Chance(self._seed, name)
        return self._chances[name]
