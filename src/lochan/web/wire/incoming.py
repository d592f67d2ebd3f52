# SPDX-License-Identifier: Apache-2.0
"""A request's body as it comes: of a length, or in chunks (RFC 9112, 7.1).

One that breaks off raises BodyBroken, so that half a file is never taken for a whole one.
"""

import re
from collections.abc import Callable
from typing import Final

from lochan.web.body import BodyBroken, BodyStream
from lochan.web.wire.received import Broken, Received, Silent

_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t -~]*)?")
_LINE_BYTES: Final = 256  # of a chunk's size and what may stand beside it
_TRAILERS: Final = 64  # lines after the last chunk, which nobody reads


class Incoming(BodyStream):
    """A body on its way in; `is_over` when nothing of it is left on the connection."""

    def __init__(
        self, received: Received, length: int | None, pause_s: float, ask: Callable[[], object]
    ) -> None:
        """Read so many bytes, or chunks; `ask` is called before the first is waited for."""
        self._received = received
        self._in_chunks = length is None
        self._left = length or 0  # of the body, or of the chunk
        self._has_begun = False
        self._was_last = False
        self._pause_s = pause_s
        self._ask: Callable[[], object] | None = ask
        self.is_over = length == 0

    def read_some(self, size: int) -> bytes:
        """Give what has come, at most `size`; waits for some. Raises BodyBroken."""
        try:
            if self._ask is not None and not self.is_over:
                self._ask()
                self._ask = None
            return b"".join(self._pieces(size))
        except Silent as error:
            message = f"nothing of the request's body came for {self._pause_s:g} s"
            raise BodyBroken(message, code="body-stalled") from error
        except (Broken, OSError) as error:
            raise BodyBroken("the request's body ended before it was complete") from error

    def _pieces(self, size: int) -> list[memoryview]:
        """Take what has come; wait only for the first of it: to wait overwrites what was taken."""
        taken: list[memoryview] = []
        while size and not self.is_over:
            if not self._left:
                if taken and (self._was_last or not self._received.has_lines(2)):
                    break
                self._next_chunk()
                continue
            if taken and self._received.is_empty:
                break
            piece = self._received.some(min(size, self._left))
            taken.append(piece)
            size -= len(piece)
            self._left -= len(piece)
            self.is_over = not self._left and not self._in_chunks
        return taken

    def _next_chunk(self) -> None:
        """Read the two lines between chunks, or all that stands behind the last. Raises Broken."""
        if self._was_last:
            self._end()
            return
        if self._has_begun and self._received.line(0):
            raise Broken("a chunk is longer than it says")
        self._has_begun = True
        found = _SIZE.fullmatch(self._received.line(_LINE_BYTES))
        if found is None:
            raise Broken("a chunk does not say its size")
        self._left = int(found[1], 16)
        self._was_last = not self._left

    def _end(self) -> None:
        for _ in range(_TRAILERS):
            if not self._received.line(_LINE_BYTES):
                self.is_over = True
                return
        raise Broken("there is too much after the last chunk")
