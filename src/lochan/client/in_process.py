# SPDX-License-Identifier: Apache-2.0
"""Requests that never leave this process: an httpx transport over a WSGI application.

Both sides pull. The application reads the body as it needs it, and the answer is made as the client
reads it, so neither is ever held whole and no thread is needed. Header names arrive as they were
sent, in lower case; `describe` says how an application is told of a request.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO, Any, Protocol, cast

import httpx

Environ = dict[str, Any]
Headers = list[tuple[str, str]]


class Application(Protocol):
    """A WSGI application (PEP 3333)."""

    def __call__(self, environ: Environ, start_response: Callable[..., Any], /) -> Iterable[bytes]:
        """Answer one request."""


class Describe(Protocol):
    """What makes the environ of a request; the path is as it stands in the URL."""

    def __call__(
        self, *, method: str, raw_path: str, query: str, headers: Headers, body: IO[bytes]
    ) -> Environ:
        """Describe a request to the application."""


class InProcess(httpx.BaseTransport):
    """Hands requests to an application, and its answers back."""

    def __init__(self, application: Application, describe: Describe) -> None:
        """Ask this application."""
        self._application = application
        self._describe = describe

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Call the application; the answer's body is pulled later, by whoever reads it."""
        raw_path, _, query = request.url.raw_path.decode("ascii").partition("?")
        environ = self._describe(
            method=request.method,
            raw_path=raw_path,
            query=query,
            headers=[(n.decode().lower(), v.decode("latin-1")) for n, v in request.headers.raw],
            body=cast("IO[bytes]", _Body(cast("httpx.SyncByteStream", request.stream))),
        )
        started = _Started()
        chunks = self._application(environ, started)
        answer = _Answer(chunks, has_body=request.method != "HEAD")
        if not started.status:
            answer.pull_first()  # an application may start with its first chunk
        answer.expect(started.headers)
        return httpx.Response(int(started.status[:3]), headers=started.headers, stream=answer)


class _Started:
    """The start_response of one request."""

    def __init__(self) -> None:
        self.status = ""
        self.headers: Headers = []

    def __call__(self, status: str, headers: Headers, exc_info: object = None) -> None:
        del exc_info  # nothing was sent yet, so nothing need be raised again
        self.status, self.headers = status, headers


class _Body(io.RawIOBase):
    """The request's body as a file, pulled chunk by chunk."""

    def __init__(self, stream: httpx.SyncByteStream) -> None:
        super().__init__()
        self._chunks = iter(stream)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        taken = min(len(buffer), len(self._rest))
        buffer[:taken] = self._rest[:taken]
        self._rest = self._rest[taken:]
        return taken


class _Answer(httpx.SyncByteStream):
    """The answer's body; one that ends before its length is broken, as on a connection."""

    def __init__(self, chunks: Iterable[bytes], *, has_body: bool) -> None:
        self._source = chunks
        self._chunks = iter(chunks)
        self._has_body = has_body
        self._missing: int | None = None

    def pull_first(self) -> None:
        self._chunks = chain([next(self._chunks, b"")], self._chunks)

    def expect(self, headers: Headers) -> None:
        said = [value for name, value in headers if name.lower() == "content-length"]
        self._missing = int(said[0]) if said and self._has_body else None

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            if self._missing is not None:
                self._missing -= len(chunk)
            yield chunk
        if self._missing:
            raise httpx.RemoteProtocolError(f"the answer ended {self._missing} bytes too early")

    def close(self) -> None:
        close = getattr(self._source, "close", None)
        if close is not None:
            close()
