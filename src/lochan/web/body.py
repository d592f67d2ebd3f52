# SPDX-License-Identifier: Apache-2.0
"""A request's body: how one is read whole, and what can go wrong meanwhile."""

import io
from collections.abc import Callable
from typing import IO

from lochan.errors import InvalidInput


class BodyBroken(InvalidInput):
    """The client went away, or broke the protocol, before its body was complete."""

    default_code = "body-incomplete"


class BodyStream(io.RawIOBase):
    """A body that comes in pieces: a stream by its `read_some` alone."""

    def read_some(self, size: int) -> bytes:
        """Give the next bytes, at most `size`; empty at the end. Raises BodyBroken."""
        raise NotImplementedError

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        """Read into a buffer. Raises BodyBroken."""
        piece = self.read_some(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def read(self, size: int = -1) -> bytes:
        """Give the next bytes, at most `size`, or all; empty at the end. Raises BodyBroken."""
        return self.readall() if size < 0 else self.read_some(size)


def read_whole(
    stream: IO[bytes], most: int, most_s: float, monotonic: Callable[[], float]
) -> bytes:
    """Read a body of at most so many bytes; of a larger one, one byte more than that.

    Raises BodyBroken, code body-stalled, for one that takes too long: drop by drop it would hold a
    thread for days (S18).
    """
    until = monotonic() + most_s
    data = stream.read(most + 1)
    while len(data) <= most and (more := stream.read(most + 1 - len(data))):
        data += more
        if monotonic() > until:
            message = f"the body took longer than {most_s:g} s; send it again"
            raise BodyBroken(message, code="body-stalled")
    return data
