# SPDX-License-Identifier: Apache-2.0
"""One process writes to a SQLite file at a time, and all get their turn.

SQLite would keep writers apart by itself, with two flaws. Its waiting is a poll that backs off to
100 ms, so a busy process starves the others. And up to version 3.51.2 a checkpoint of one
connection that meets a commit of another can damage the file (the "WAL-reset bug"); commits, and
the checkpoints that follow them, must not overlap. So every write of ours, with its checkpoint,
happens in a turn.

Two lock files lie beside the database. Who wants a turn first locks `-queue`, then `-turn`, and
then gives `-queue` back. A process that has just ended its turn must pass the queue again, behind
whoever stands there already. Locks are flock(2): bound to the open file, gone with the process.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from lochan.environment import Environment
from lochan.errors import Unavailable

# A turn lasts a fraction of a millisecond, and nobody writes while the next one sleeps on. So who
# waits looks often at first, and seldom only once others have kept the turn for long.
_SHORTEST_PAUSE_S = 0.0001
_LONGEST_PAUSE_S = 0.002
_PAUSE_SHARE = 1 / 16  # of the time that this lock has been waited for


class Turn:
    """The right to write to one file; `with turn:` waits for it, a bounded time."""

    def __init__(self, path: Path, environment: Environment, *, patience_s: float) -> None:
        """Open the lock files beside the database at `path`."""
        self._path = path
        self._environment = environment
        self._patience_s = patience_s
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._queue = os.open(f"{path}-queue", flags, 0o600)
        self._turn = os.open(f"{path}-turn", flags, 0o600)

    def __enter__(self) -> None:
        """Wait for the turn. Raises Unavailable when others keep it for too long."""
        deadline = self._environment.monotonic() + self._patience_s
        self._lock(self._queue, deadline)
        try:
            self._lock(self._turn, deadline)
        finally:
            fcntl.flock(self._queue, fcntl.LOCK_UN)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the turn."""
        fcntl.flock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the lock files; they stay on disk, since somebody may be waiting on them."""
        os.close(self._turn)
        os.close(self._queue)

    def _lock(self, file: int, deadline: float) -> None:
        began = self._environment.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                now = self._environment.monotonic()
                if now >= deadline:
                    message = (
                        f"{self._path} has been held by another process for {self._patience_s:g} s;"
                        " nothing was written, try again"
                    )
                    raise Unavailable(message, code="store-busy") from error
                pause_s = max(_SHORTEST_PAUSE_S, (now - began) * _PAUSE_SHARE)
                self._environment.sleep(min(pause_s, _LONGEST_PAUSE_S))
            else:
                return
