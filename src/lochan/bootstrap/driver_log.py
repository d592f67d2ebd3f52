# SPDX-License-Identifier: Apache-2.0
"""What a driver prints, kept within bounds: its beginning and its end, whatever lies between.

    the first 8 MB | "... 123456 bytes left out ..." | the last megabyte

How much a driver prints the user's code decides, and Spark's; a disk it must not fill. The first
part is written as it comes, so that people can follow it. The end is held in memory until the
driver has ended.
"""

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import Final, Self

HEAD: Final = 8 << 20
TAIL: Final = 1 << 20
_CHUNK: Final = 1 << 16
_WAIT_S: Final = 2.0  # for the last words; a child that got away may hold the pipe for ever


class DriverLog:
    """Adds the output of one driver to a log file; `writes` is the pipe's end for the driver."""

    def __init__(self, log: Path, *, head: int = HEAD, tail: int = TAIL) -> None:
        """Open the log, to be added to."""
        self._log = log.open("ab")
        self._reads, self.writes = os.pipe()
        self._room, self._longest = head, tail
        self._tail = bytearray()
        self._left_out = 0
        self._is_over = False
        self._lock = Lock()
        self._thread = Thread(target=self._copy, name="lochan driver log", daemon=True)

    def __enter__(self) -> Self:
        """Begin to copy."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the log."""
        self.hand_over()
        self.end()

    def hand_over(self) -> None:
        """Leave the pipe to the driver that has it: when that ends, so does the pipe."""
        if self.writes >= 0:
            os.close(self.writes)
            self.writes = -1

    def end(self) -> None:
        """Write the end of what a driver said that is over."""
        self._thread.join(_WAIT_S)
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
            with suppress(OSError), self._log:
                if self._left_out:
                    self._log.write(f"\n... {self._left_out} bytes left out ...\n".encode())
                self._log.write(self._tail)

    def _copy(self) -> None:
        with os.fdopen(self._reads, "rb", buffering=0) as source:
            while data := source.read(_CHUNK):
                with self._lock:
                    self._add(data)

    def _add(self, data: bytes) -> None:
        if self._is_over:
            return
        if self._room:
            with suppress(OSError):  # a full disk must not stop a job: it goes on, unheard
                self._log.write(data[: self._room])
                self._log.flush()
        self._tail += data[self._room :]
        self._room = max(0, self._room - len(data))
        if len(self._tail) > self._longest:
            over = len(self._tail) - self._longest
            self._left_out += over
            del self._tail[:over]
