# SPDX-License-Identifier: Apache-2.0
"""A pipe that looks like a file: what is written here, the server reads by the file's name.

The name stays good until the reader has opened it, which shows in the first bytes being gone. From
then on only the reader holds the other end, so that its going away is noticed. A reader that takes
nothing for too long counts as gone: it would hold a thread for ever.

What is there when the reader comes is as much as the pipe holds. Some clients judge an answer by
its first bytes: Hadoop's asks anew for what did not come at once.
"""

import fcntl
import os
import select
import struct
import sys
import termios
from types import TracebackType
from typing import Final, Self

from lochan.environment import Environment

_CAPACITY: Final = 1 << 20
_SET_CAPACITY: Final = 1031  # F_SETPIPE_SZ of Linux; Python 3.11 names it, elsewhere it is missing
_OPENED_WITHIN_S: Final = 30.0
_PAUSE_S: Final = 0.0002
CAN_SPLICE: Final = hasattr(os, "splice")
_FOLDER: Final = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"


class ClientGone(Exception):
    """Nobody reads any more."""


class Outlet:
    """The writer's end; `name` is the reader's."""

    def __init__(self, environment: Environment, pause_s: float) -> None:
        """Open a pipe, whose reader may pause for so long."""
        self._sleep = environment.sleep
        self._pause_ms = pause_s * 1000
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self._is_open = False
        if sys.platform == "linux":
            fcntl.fcntl(self._writer, _SET_CAPACITY, _CAPACITY)
        self.name = f"{_FOLDER}/{self._reader}"

    def __enter__(self) -> Self:
        """Begin to write."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the pipe; the reader gets what was written, then the end."""
        if not self._is_open:
            os.close(self._reader)
        os.close(self._writer)

    def write(self, chunk: bytes) -> None:
        """Write all of it, no faster than it is read. Raises ClientGone."""
        rest = memoryview(chunk)
        try:
            while rest:
                try:
                    written = os.write(self._writer, rest)
                except BlockingIOError:
                    self._wait_for_room()
                    continue
                rest = rest[written:]
                if not self._is_open:
                    self._wait_for_reader(written)
        except BrokenPipeError as error:
            raise ClientGone from error

    def splice(self, file: int, start: int, stop: int) -> bool:
        """Write a part of a file without a copy of it. False if it ended early. Raises ClientGone.

        The disk's pages themselves go into the pipe.
        """
        while start < stop:
            try:
                moved = os.splice(file, self._writer, stop - start, offset_src=start)
            except BlockingIOError:
                self._wait_for_room()
                continue
            except BrokenPipeError as error:
                raise ClientGone from error
            except OSError:
                return False
            if not moved:
                return False
            start += moved
            if not self._is_open:
                self._wait_for_reader(moved)
        return True

    def _wait_for_room(self) -> None:
        room = select.poll()
        room.register(self._writer, select.POLLOUT)
        if not room.poll(self._pause_ms):
            raise ClientGone

    def _wait_for_reader(self, written: int) -> None:
        for _ in range(int(_OPENED_WITHIN_S / _PAUSE_S)):
            waiting = fcntl.ioctl(self._reader, termios.FIONREAD, b"\0\0\0\0")
            if struct.unpack("i", waiting)[0] < written:
                os.close(self._reader)
                self._is_open = True
                return
            self._sleep(_PAUSE_S)
        raise ClientGone
