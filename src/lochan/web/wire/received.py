# SPDX-License-Identifier: Apache-2.0
"""What has come from a client and was not read yet, in one buffer that is used again and again."""

import math
import socket
from collections.abc import Callable
from typing import Final

_CAPACITY: Final = 256 << 10
_END: Final = b"\r\n"
_END_OF_HEAD: Final = b"\r\n\r\n"
_EMPTY_LINES: Final = 4  # before a request: after a body some send one too many (RFC 9112, 2.2)


class Broken(Exception):
    """The client went away, fell silent, or does not speak HTTP."""


class Silent(Broken):
    """Nothing came for too long."""


class TooLong(Broken):
    """A line or a head is longer than any may be."""


class Received:
    """The bytes of one connection. How long it waits for some is the socket's own limit."""

    def __init__(
        self, connection: socket.socket, monotonic: Callable[[], float], head_s: float
    ) -> None:
        """Begin with nothing; a head that has begun is here within so many seconds."""
        self._connection = connection
        self._monotonic = monotonic
        self._head_s = head_s
        self._buffer = bytearray(_CAPACITY)
        self._view = memoryview(self._buffer)
        self._start = self._stop = 0

    @property
    def is_empty(self) -> bool:
        """Say whether all that came was read."""
        return self._start == self._stop

    def has_lines(self, count: int) -> bool:
        """Say whether so many lines are here, so that taking them waits for nothing."""
        end = self._start
        for _ in range(count):
            end = self._buffer.find(_END, end, self._stop) + len(_END)
            if end < len(_END):
                return False
        return True

    def head(self, most: int) -> bytes:
        """Take a request's lines up to the empty one; none if the client has ended.

        Raises Broken for an end within, or one that is longer.
        """
        for _ in range(_EMPTY_LINES):
            if self.is_empty and not self.more():
                return b""
            if not self._buffer.startswith(_END, self._start, self._stop):
                break
            self._start += len(_END)
        return self._up_to(_END_OF_HEAD, most, self._monotonic() + self._head_s)

    def line(self, most: int) -> bytes:
        """Take a line, without its end. Raises Broken."""
        return self._up_to(_END, most, math.inf)

    def some(self, most: int) -> memoryview:
        """Take what is there, at most so much, and wait if there is nothing.

        It is good until the next call. Raises Broken.
        """
        if self.is_empty and not self.more():
            raise Broken("the connection ended within a body")
        stop = min(self._stop, self._start + most)
        taken = self._view[self._start : stop]
        self._start = stop
        return taken

    def more(self) -> int:
        """Wait for more bytes, and say how many came; none at the end. Raises Broken."""
        if self.is_empty:
            self._start = self._stop = 0
        elif self._stop == _CAPACITY:
            left = self._stop - self._start
            self._buffer[:left] = self._buffer[self._start : self._stop]
            self._start, self._stop = 0, left
        try:
            count = self._connection.recv_into(self._view[self._stop :])
        except BlockingIOError as error:
            raise Silent("nothing came for too long") from error
        except OSError as error:
            raise Broken("the connection broke") from error
        self._stop += count
        return count

    def _up_to(self, end: bytes, most: int, until: float) -> bytes:
        looked = 0
        while (found := self._buffer.find(end, self._start + looked, self._stop)) < 0:
            held = self._stop - self._start
            if held >= most + len(end):
                raise TooLong
            if not self.more():
                raise Broken("the connection ended within a line")
            if self._monotonic() > until:  # byte by byte it would hold a thread for days (S18)
                raise Silent("a head came too slowly")
            looked = max(0, held - len(end) + 1)
        if found - self._start > most:
            raise TooLong
        taken = bytes(self._view[self._start : found])
        self._start = found + len(end)
        return taken
