# SPDX-License-Identifier: Apache-2.0
"""An object as a file that is read by ranges.

`open_reader` gives what `open(..., "rb")` gives: a buffered, seekable binary file, or a text file
over it. Each fetch asks for the bytes that are wanted, at least a buffer of them. All fetches are
of one content: an object that is replaced meanwhile shows by its entity tag, and is an error, not a
mixture of the two.
"""

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, Any, Final
from urllib.parse import unquote

import httpx

from lochan.client.seekable import Seekable
from lochan.client.transport import chunks_of
from lochan.errors import Conflict, NotFound, Unavailable
from lochan.shapes.objects import ObjectStats

BUFFER_BYTES: Final = 1 << 20
_PARTIAL: Final = 206

Fetch = Callable[[dict[str, str]], AbstractContextManager[httpx.Response]]


class ObjectReader(Seekable):
    """The bytes of one object, at any place."""

    def __init__(self, stats: ObjectStats, fetch: Fetch) -> None:
        """Read the object that was described; `fetch` takes request headers."""
        super().__init__(stats.path, stats.size_bytes or 0)
        self.stats = stats
        self._fetch = fetch
        self._tag: str | None = None

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        """Fill a buffer from here on, with one request."""
        wanted = min(len(buffer), self._size - self._place)
        if wanted <= 0:
            return 0
        view, done = memoryview(buffer).cast("B"), 0
        for chunk in self._chunks(self._place, self._place + wanted):
            view[done : done + len(chunk)] = chunk
            done += len(chunk)
        self._place += done
        return done

    def readall(self) -> bytes:
        """Give all bytes from here on, with one request."""
        if self._place >= self._size:
            return b""
        data = self.fetch(self._place, self._size)
        self._place = self._size
        return data

    def fetch(self, start: int, stop: int) -> bytes:
        """Give the bytes of a range that lies in the object, with one request.

        It heeds and moves no place, so threads may call it at the same time.
        """
        return b"".join(self._chunks(start, stop))

    def _chunks(self, start: int, stop: int) -> list[bytes]:
        headers = {"range": f"bytes={start}-{stop - 1}"}
        try:
            with self._fetch(headers) as response:
                self._same(response)
                chunks = list(chunks_of(response))
                partial = response.status_code == _PARTIAL
        except NotFound as error:
            raise _replaced(self.name) from error
        if not partial:  # a server without ranges, or all of it was asked for
            chunks = [b"".join(chunks)[start:stop]]
        if sum(map(len, chunks)) != stop - start:
            raise Unavailable(f"{self.name} broke off while it was read; try again")
        return chunks

    def _same(self, response: httpx.Response) -> None:
        tag = response.headers.get("etag", "")
        if self._tag is None:
            self._tag = tag
            if unquote(tag.strip('"')) not in {"", self.stats.checksum}:
                raise _replaced(self.name)
        elif tag != self._tag:
            raise _replaced(self.name)


def open_reader(
    reader: ObjectReader,
    *,
    buffering: int = BUFFER_BYTES,
    text: bool = False,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
) -> IO[Any]:
    """Put a buffer, and if asked a decoder, over a reader."""
    buffered = io.BufferedReader(reader, buffering)
    if not text:
        return buffered
    return io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline)


def _replaced(name: str) -> Conflict:
    message = f"{name} was replaced while it was read; open it again, or read it at a commit"
    return Conflict(message, code="object-changed", path=name)
