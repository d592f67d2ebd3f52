# SPDX-License-Identifier: Apache-2.0
"""Time, ids, randomness, locks and threads: everything that makes two runs differ.

All other code takes an `Environment` as an argument. The simulator hands in one of its own, so that
a run is replayed from its seed; production uses `RealEnvironment`. This file and `config` are the
only ones that may touch the machine's clock, random source or environment variables
(`tests/test_architecture.py`).
"""

import os
import resource
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from typing import Protocol

_BACKGROUND = 10  # of 19: a quarter of a core remains beside others that want all of it
# Ids drawn and not given yet. Asking the kernel gives the interpreter away, and a busy process gets
# it back late: one draw serves many. A list gives each item to one thread. A forked child forgets
# what its parent has drawn, or both would give it.
_IDS_A_DRAW = 64
_ids: list[str] = []
os.register_at_fork(after_in_child=_ids.clear)


class Event(Protocol):
    """Something that happens once, and that others wait for."""

    def set(self) -> None:
        """Say that it has happened, and wake who waits; only one thread may say so."""

    def wait(self) -> object:
        """Return when it has happened, at once if it has already."""


class Environment(Protocol):
    """What protocol code may know of the world outside its arguments and stores."""

    def now(self) -> float:
        """Seconds since the epoch, as told by the wall clock; it may jump."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""

    def sleep(self, seconds: float) -> None:
        """Let others run for at least this long."""

    def new_id(self) -> str:
        """Give a name that no other call ever gives: 32 hex digits."""

    def random_bytes(self, count: int) -> bytes:
        """Give unpredictable bytes, fit for secrets."""

    def lock(self) -> AbstractContextManager[object]:
        """Make a mutual exclusion lock for one process."""

    def event(self) -> Event:
        """Make an event that has not happened yet."""

    def executor(self, threads: int, *, background: bool = False) -> Executor:
        """Make a pool that runs work beside the caller; the caller shuts it down.

        Background work gives way to others where processors are short.
        """

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        """Run background work in a thread that does not keep the process alive."""

    def preemptions(self) -> int:
        """Count how often this thread had to leave its processor to somebody else."""


class _ThreadEvent:
    """An event that costs a lock; threading.Event has a condition and lists who waits."""

    __slots__ = ("_happened", "_open")

    def __init__(self) -> None:
        self._happened = False
        self._open = threading.Lock()
        self._open.acquire()

    def set(self) -> None:
        if not self._happened:
            self._happened = True
            self._open.release()

    def wait(self) -> object:
        if not self._happened:
            with self._open:  # whoever gets through lets the next one through
                pass
        return None


class RealEnvironment:
    """The machine's own clocks, random source and threads."""

    # The clocks themselves: a request looks at them half a dozen times.
    now = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    def sleep(self, seconds: float) -> None:
        """Block this thread."""
        time.sleep(seconds)

    def new_id(self) -> str:
        """Give 128 bits from the kernel's random source."""
        try:
            return _ids.pop()
        except IndexError:
            drawn = os.urandom(16 * _IDS_A_DRAW).hex()
            first, *others = (drawn[at : at + 32] for at in range(0, len(drawn), 32))
            _ids.extend(others)
            return first

    def random_bytes(self, count: int) -> bytes:
        """Draw from the kernel's random source."""
        return os.urandom(count)

    def lock(self) -> AbstractContextManager[object]:
        """Make a thread lock."""
        return threading.Lock()

    def event(self) -> Event:
        """Make an event for threads; one thread sets it."""
        return _ThreadEvent()

    def executor(self, threads: int, *, background: bool = False) -> Executor:
        """Make a thread pool; on Linux, where a thread has its own, of low priority if asked."""
        step_back = _step_back if background and sys.platform == "linux" else None
        return ThreadPoolExecutor(threads, thread_name_prefix="lochan", initializer=step_back)

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        """Start a daemon thread."""
        threading.Thread(target=work, name=name, daemon=True).start()

    def preemptions(self) -> int:
        """Ask the system, where it counts for each thread; elsewhere it is never."""
        if sys.platform != "linux":
            return 0
        return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def _step_back() -> None:
    """Lower the priority of this thread alone: Linux takes a thread's id for a process's here."""
    with suppress(OSError):  # a sandbox may forbid it, and then all are equal
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _BACKGROUND)
