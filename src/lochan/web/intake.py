# SPDX-License-Identifier: Apache-2.0
"""The body of a request between the loop that takes it and the thread that reads it.

It holds little: the loop adds no more while it is full, and nothing before somebody reads. A
client that pauses for too long, or whose body broke, ends the reading with BodyBroken.
"""

import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from lochan.web.body import BodyBroken, BodyStream

HELD_BYTES: Final = 1 << 20  # how much of an upload waits for its reader


class Intake(BodyStream):
    """A request's body: filled by the loop, read by one thread, bounded in between."""

    def __init__(self, ask: Callable[[], object], pause_s: float) -> None:
        """Begin empty; `ask` is called in the reader's thread whenever more may come."""
        self._ask = ask
        self._pause_s = pause_s
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._is_read = False
        self._ended = False
        self._broken = False
        self._came = threading.Condition()

    @property
    def is_full(self) -> bool:
        """Say whether the loop should wait until it is asked for more."""
        return self._held > HELD_BYTES

    def add(self, chunk: bytes) -> None:
        """Hold the next bytes, which are not empty."""
        with self._came:
            self._chunks.append(chunk)
            self._held += len(chunk)
            self._came.notify()

    def end(self, *, broken: bool) -> None:
        """Say that nothing more will come, and whether something is missing."""
        with self._came:
            self._broken, self._ended = broken, True
            self._came.notify()

    def read_some(self, size: int) -> bytes:
        """Give what has come, at most `size`; waits for some. Raises BodyBroken."""
        if not self._is_read:
            self._is_read = True
            self._ask()
        with self._came:
            self._wait()
            if not self._chunks:
                if self._broken:
                    raise BodyBroken("the request's body ended before it was complete")
                return b""
            chunk = self._taken(size)
            was_full, self._held = self.is_full, self._held - len(chunk)
            ask = was_full and not self.is_full
        if ask:
            self._ask()
        return chunk

    def _taken(self, size: int) -> bytes:
        """Take all that is there, up to so many bytes: a client may send many small pieces."""
        parts, room = [], size
        while self._chunks and room:
            chunk = self._chunks.popleft()
            if len(chunk) > room:
                self._chunks.appendleft(chunk[room:])
                chunk = chunk[:room]
            parts.append(chunk)
            room -= len(chunk)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _wait(self) -> None:
        while not self._chunks and not self._ended:
            if not self._came.wait(self._pause_s):
                message = f"nothing of the request's body came for {self._pause_s:g} s"
                raise BodyBroken(message, code="body-stalled")
