# SPDX-License-Identifier: Apache-2.0
"""Between Granian's RSGI and a WSGI application: the only asynchronous code of Lochan.

    event loop                                 a thread of ours
    __rsgi__: small body read whole,  ------>  application(environ, start_response)
      large one fed through a `_Pipe`          one chunk: answers by itself (response_bytes)
    wakes when the answer is out      <------  many: through a pipe that Granian reads like a file

Granian answers 500 for a coroutine that ends before its answer, so each one sleeps until the thread
is done; threads that finish together wake their coroutines in one turn of the loop.

Granian's own streams take all that they are given, however slow the client: a large answer would
lie in memory as a whole. A file it reads no faster than the client does. So chunks go into a pipe,
and Granian is given the name of its other end. A client that goes away closes it, which the writer
sees at once.

What a broken upload looks like: the body's iterator ends as if all had come. With a length, the
count shows it. With chunked transfer, Granian gives one empty chunk for the error and another for
the end, and a sound body has only the last. A body that broke raises BodyBroken in its reader, so
that half a file is never taken for a whole one.
"""

import asyncio
import io
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from queue import SimpleQueue
from typing import IO, Any, Final, cast

from granian._granian import RSGIHTTPProtocol as HTTPProtocol
from granian._granian import RSGIProtocolClosed as ProtocolClosed
from granian.rsgi import Scope

from lochan.environment import Environment
from lochan.web.body import BodyBroken
from lochan.web.environ import Environ, new_environ
from lochan.web.outlet import ClientGone, Outlet

SMALL_BODY_BYTES: Final = 256 << 10
PIPE_BYTES: Final = 1 << 20  # how much of an upload waits for its reader

_JSON: Final = [
    ("content-type", "application/json"),
    ("x-content-type-options", "nosniff"),
    ("retry-after", "1"),
]
_BUSY: Final = b'{"message":"the server is at its limit; try again in a second","code":"busy"}\n'

_log = logging.getLogger(__name__)

Wsgi = Callable[..., Iterable[bytes]]


class Adapter:
    """One worker process's door: an RSGI application over a WSGI one."""

    def __init__(
        self, application: Wsgi, environment: Environment, *, threads: int, most_waiting: int
    ) -> None:
        """Serve by so many threads; beyond so many requests that wait, answer 503."""
        self._application = application
        self._environment = environment
        self._threads = threads
        self._most = threads + most_waiting
        self._work: SimpleQueue[_Exchange | None] = SimpleQueue()
        self._in_hand = 0
        self._done: deque[asyncio.Future[None]] = deque()
        self._waking = threading.Lock()

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the threads; Granian calls this when its loop stands."""
        self._loop = loop
        for number in range(self._threads):
            self._environment.spawn(self._serve, name=f"lochan request {number}")

    def __rsgi_del__(self, loop: object) -> None:
        """End the threads, after the last request."""
        for _ in range(self._threads):
            self._work.put(None)

    async def __rsgi__(self, scope: Scope, protocol: HTTPProtocol) -> None:
        """Serve one request."""
        if scope.proto != "http":
            protocol.close(404)  # type: ignore[attr-defined]  # a web socket's protocol has it
            return
        if self._in_hand >= self._most:
            protocol.response_bytes(503, _JSON, _BUSY)
            return
        self._in_hand += 1
        try:
            await self._exchange(scope, protocol)
        finally:
            self._in_hand -= 1

    async def _exchange(self, scope: Scope, protocol: HTTPProtocol) -> None:
        headers = scope.headers
        said = headers.get("content-length")
        length = int(said) if said else None  # Granian lets none through that is no number
        pipe: _Pipe | None = None
        body: IO[bytes]
        if not length and "transfer-encoding" not in headers:
            body = io.BytesIO()
        elif length is not None and length <= SMALL_BODY_BYTES:
            whole = await protocol()
            if len(whole) != length:
                return  # the client is gone, and nobody waits for an answer
            body = io.BytesIO(whole)
        else:
            pipe = _Pipe(self._loop, length)
            body = cast("IO[bytes]", pipe)  # a raw stream has all that a reader of bytes calls
        environ = new_environ(
            method=scope.method,
            path=scope.path,
            query=scope.query_string,
            headers=headers.items(),
            body=body,
            scheme=scope.scheme,
            server=scope.server,
            client=scope.client,
        )
        finished = self._loop.create_future()
        self._work.put(_Exchange(environ, protocol, finished))
        if pipe is not None:
            await pipe.fill(protocol, finished)
        await finished

    def _serve(self) -> None:
        while (exchange := self._work.get()) is not None:
            try:
                exchange.run(self._application, self._environment)
            except Exception:  # noqa: BLE001 - the next request needs this thread
                # Granian answers 500, or breaks off what was begun; this thread serves on.
                _log.exception("a request met a bug")
            finally:
                self._done.append(exchange.finished)
                self._wake()

    def _wake(self) -> None:
        if self._waking.acquire(blocking=False):  # else a turn of the loop is on its way
            with suppress(RuntimeError):  # the loop has ended: so have its coroutines
                self._loop.call_soon_threadsafe(self._finish)

    def _finish(self) -> None:
        self._waking.release()
        while self._done:
            finished = self._done.popleft()
            if not finished.done():
                finished.set_result(None)


class _Exchange:
    """One request on its way through a thread."""

    __slots__ = ("environ", "finished", "headers", "protocol", "status")

    def __init__(
        self, environ: Environ, protocol: HTTPProtocol, finished: "asyncio.Future[None]"
    ) -> None:
        self.environ = environ
        self.protocol = protocol
        self.finished = finished
        self.status = 500
        self.headers: list[tuple[str, str]] = []

    def run(self, application: Wsgi, environment: Environment) -> None:
        """Ask the application and send what it says; an answer nobody waits for is dropped."""
        chunks = application(self.environ, self._start)
        try:
            if isinstance(chunks, list) and len(chunks) <= 1:
                self.protocol.response_bytes(self.status, self.headers, b"".join(chunks))
            else:
                self._stream(chunks, environment)
        except (ProtocolClosed, ClientGone):
            pass
        finally:
            if hasattr(chunks, "close"):
                chunks.close()

    def _start(self, status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        self.status = int(status[:3])
        self.headers = headers

    def _stream(self, chunks: Iterable[bytes], environment: Environment) -> None:
        pieces = iter(chunks)
        first = next(pieces, b"")
        if not first:
            self.protocol.response_bytes(self.status, self.headers, b"")
            return
        with Outlet(environment) as outlet:
            self.protocol.response_file(self.status, self.headers, outlet.name)
            for chunk in chain((first,), pieces):
                outlet.write(chunk)


class _Pipe(io.RawIOBase):
    """A request's body: filled by the loop, read by a thread, bounded in between."""

    def __init__(self, loop: asyncio.AbstractEventLoop, length: int | None) -> None:
        self._loop = loop
        self._missing = length
        self._chunks: deque[bytes] = deque()
        self._held = 0
        self._ended = False
        self._broken = False
        self._came = threading.Condition()
        self._room = asyncio.Event()

    async def fill(self, protocol: HTTPProtocol, finished: "asyncio.Future[None]") -> None:
        """Take the body from Granian, no faster than it is read; what nobody reads is not taken."""
        empty = 0
        count = 0
        async for chunk in protocol:
            if not chunk:
                empty += 1
                continue
            count += len(chunk)
            self._add(chunk)
            while self._held > PIPE_BYTES and not finished.done():
                self._room.clear()
                if self._held > PIPE_BYTES:
                    waiting = asyncio.ensure_future(self._room.wait())
                    either: list[asyncio.Future[Any]] = [waiting, finished]
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
            if finished.done():
                break
        broken = empty > 1 if self._missing is None else count != self._missing
        with self._came:
            self._broken, self._ended = broken, True
            self._came.notify()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        chunk = self.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def read(self, size: int = -1) -> bytes:
        """Give the next bytes, at most `size`; empty at the end. Raises BodyBroken."""
        if size < 0:
            return self.readall()
        with self._came:
            while not self._chunks and not self._ended:
                self._came.wait()
            if not self._chunks:
                if self._broken:
                    raise BodyBroken("the request's body ended before it was complete")
                return b""
            chunk = self._chunks.popleft()
            if len(chunk) > size:
                self._chunks.appendleft(chunk[size:])
                chunk = chunk[:size]
            before, self._held = self._held, self._held - len(chunk)
        if before > PIPE_BYTES >= self._held:
            self._loop.call_soon_threadsafe(self._room.set)
        return chunk

    def _add(self, chunk: bytes) -> None:
        with self._came:
            self._chunks.append(chunk)
            self._held += len(chunk)
            self._came.notify()
