# SPDX-License-Identifier: Apache-2.0
"""Between Granian's RSGI and a WSGI application: the only asynchronous code of Lochan.

    event loop                                 a thread of ours
    __rsgi__: small body read whole,  ------>  application(environ, start_response)
      large one fed into an `Intake`           one chunk: answers by itself (response_bytes)
    wakes when the answer is out      <------  many: through a pipe that Granian reads like a file

A request that needs no waiting is answered by the loop itself (`at_once`).

Granian answers 500 for a coroutine that ends before its answer, so each one sleeps until the thread
is done; threads that finish together wake their coroutines in one turn of the loop.

Granian's own streams take all that they are given, however slow the client: a large answer would
lie in memory as a whole. A file it reads no faster than the client does. So chunks go into a pipe,
and Granian is given the name of its other end. A client that goes away closes it, which the writer
sees at once. An answer that has a `file` goes into the pipe without passing through Python.

What a broken upload looks like: the body's iterator ends as if all had come. With a length, the
count shows it. With chunked transfer, Granian gives one empty chunk for the error and another for
the end, and a sound body has only the last. A body that broke raises BodyBroken in its reader, so
that half a file is never taken for a whole one.

What a client may cost (S18): a request that waits for a thread longer than `queue_s` gets 503, and
a body that pauses for longer than `body_s` ends with 408. So long, too, may a client pause that
reads an answer. A large body is taken only when somebody reads it, so that what waits holds its
headers and at most SMALL_BODY_BYTES.

What may pass for two requests in other eyes (S11): a length beside chunked transfer. Granian drops
the length before we see it, takes chunked transfer alone for true, and ends the connection with the
answer: nothing behind it is taken for a next request.
"""

import asyncio
import io
import logging
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import chain
from queue import SimpleQueue
from typing import IO, Final, cast

import uvloop
from granian._granian import RSGIHTTPProtocol as HTTPProtocol
from granian._granian import RSGIProtocolClosed as ProtocolClosed
from granian.rsgi import Scope

from lochan.environment import Environment
from lochan.web.at_once import Answer, Fetch
from lochan.web.environ import Environ, Headers, new_environ
from lochan.web.intake import Intake
from lochan.web.outlet import CAN_SPLICE, ClientGone, Outlet

SMALL_BODY_BYTES: Final = 64 << 10
HEADER_BYTES: Final = 16 << 10  # names and values of all headers together

_JSON: Final = [
    ("content-type", "application/json"),
    ("x-content-type-options", "nosniff"),
]
_AGAIN: Final = [*_JSON, ("retry-after", "1")]
_LAST: Final = ("connection", "close")
_UNTYPED: Final = ("content-type", "")  # WSGI wants a type of every answer; this one is not sent
_BUSY: Final = b'{"message":"the server is at its limit; try again in a second","code":"busy"}\n'
_HEADERS: Final = b'{"message":"the headers have more than 16 KiB","code":"headers-too-large"}\n'
_STALLED: Final = b'{"message":"the body came too slowly; send it again","code":"body-stalled"}\n'

_log = logging.getLogger(__name__)

Wsgi = Callable[..., Iterable[bytes]]
AtOnce = Callable[[str, str, Headers], Answer | Fetch | None]


class Loop(uvloop.Loop):
    """An event loop that no signal escapes.

    A loop is told of a signal by a byte in a socket. uvloop throws it away while it does not run
    yet, asyncio's own loop when some hundred wakings by threads wait to be read: a SIGTERM would
    be lost. What Python itself notes of a signal is never lost.
    """

    on_signal: Callable[[], object] | None = None  # called first, whatever the signal

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: object) -> None:
        """Call this in the loop when the signal comes."""

        def tell(_number: int, _frame: object) -> None:
            if self.on_signal is not None:
                self.call_soon_threadsafe(self.on_signal)
            self.call_soon_threadsafe(partial(callback, *args))

        super().add_signal_handler(sig, lambda: None)  # the byte still ends a wait
        signal.signal(sig, tell)


def new_loop() -> Loop:
    """Make a worker's loop, and set it."""
    loop = Loop()
    asyncio.set_event_loop(loop)
    return loop


class Adapter:
    """One worker process's door: an RSGI application over a WSGI one."""

    def __init__(
        self,
        application: Wsgi,
        environment: Environment,
        *,
        threads: int,
        most_waiting: int,
        queue_s: float = 10.0,
        body_s: float = 30.0,
        at_once: AtOnce | None = None,
    ) -> None:
        """Serve by so many threads; beyond so many requests that wait, answer 503.

        What `at_once` answers for a path, a query and headers needs no thread.
        """
        self._application = application
        self._at_once = at_once
        self._environment = environment
        self._threads = threads
        self._most = threads + most_waiting
        self._queue_s = queue_s
        self._body_s = body_s
        self._new_outlet = partial(Outlet, environment, body_s)
        self._work: SimpleQueue[_Exchange | None] = SimpleQueue()
        self._waiting: deque[_Exchange] = deque()  # in the order of `_work`
        self._in_hand = 0
        self._done: deque[asyncio.Future[None]] = deque()
        self._waking = threading.Lock()

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the threads; Granian calls this when its loop stands."""
        self._loop = loop
        if isinstance(loop, Loop):
            loop.on_signal = self.drain
        for number in range(self._threads):
            self._environment.spawn(self._serve, name=f"lochan request {number}")
        loop.call_later(self._queue_s / 4, self._turn_away)

    def drain(self) -> None:
        """Hear that a signal asks the process to end; Granian itself takes no more requests."""

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
            protocol.response_bytes(503, _AGAIN, _BUSY)
            return
        self._in_hand += 1
        try:
            await self._exchange(scope, protocol)
        finally:
            self._in_hand -= 1

    async def _exchange(self, scope: Scope, protocol: HTTPProtocol) -> None:
        listed = scope.headers.items()
        if sum(map(len, chain.from_iterable(listed))) > HEADER_BYTES:
            protocol.response_bytes(431, [*_JSON, _LAST], _HEADERS)
            return
        is_chunked = "transfer-encoding" in scope.headers
        said = None if is_chunked else scope.headers.get("content-length")
        length = int(said) if said else None  # Granian lets none through that is no number
        feed: _Feed | None = None
        fetch: Fetch | None = None
        body: IO[bytes]
        if not length and not is_chunked:
            if scope.method == "GET" and self._at_once is not None:
                found = self._at_once(scope.path, scope.query_string, listed)
                if isinstance(found, Answer):
                    with suppress(ProtocolClosed):
                        protocol.response_bytes(found.status, found.headers, found.body)
                    return
                fetch = found
            body = io.BytesIO()
        elif length is not None and length <= SMALL_BODY_BYTES:
            try:
                async with asyncio.timeout(self._body_s):
                    whole = await protocol()
            except TimeoutError:
                protocol.response_bytes(408, [*_JSON, _LAST], _STALLED)
                return
            if len(whole) != length:
                return  # the client is gone, and nobody waits for an answer
            body = io.BytesIO(whole)
        else:
            feed = _Feed(self._loop, length, self._body_s)
            body = cast(
                "IO[bytes]", feed.intake
            )  # a raw stream has all that a reader of bytes calls
        environ = new_environ(
            method=scope.method,
            path=scope.path,
            query=scope.query_string,
            headers=listed,
            body=body,
            scheme=scope.scheme,
            server=scope.server,
            client=scope.client,
        )
        finished = self._loop.create_future()
        exchange = _Exchange(environ, protocol, finished, self._loop.time(), fetch)
        self._add(exchange)
        if feed is not None:
            await feed.run(protocol, exchange.finished)
        await exchange.finished

    def _add(self, exchange: "_Exchange") -> None:
        self._waiting.append(exchange)
        self._work.put(exchange)

    def _turn_away(self) -> None:
        """Answer for those who have waited for too long; threads pass over them later."""
        oldest = self._loop.time() - self._queue_s
        waiting = self._waiting
        while waiting and (waiting[0].is_taken or waiting[0].since < oldest):
            exchange = waiting.popleft()
            if exchange.take():
                exchange.refuse()
                exchange.finished.set_result(None)
        self._loop.call_later(self._queue_s / 4, self._turn_away)

    def _serve(self) -> None:
        while (exchange := self._work.get()) is not None:
            if exchange.take():
                try:
                    exchange.run(self._application, self._new_outlet)
                except Exception:  # noqa: BLE001 - the next request needs this thread
                    # Granian answers 500, or breaks off what was begun; this thread serves on.
                    _log.exception("a request met a bug")
                finally:
                    self._done.append(exchange.finished)
                    self._wake()
            # A thread that waits must not hold what it served: the connection of a body that was
            # not read ends when nobody has that body any more.
            exchange = None

    def _wake(self) -> None:
        if self._waking.acquire(blocking=False):  # else a turn of the loop is on its way
            with suppress(RuntimeError):  # the loop has ended: so have its coroutines
                self._loop.call_soon_threadsafe(self._finish)

    def _finish(self) -> None:
        self._waking.release()
        while self._waiting and self._waiting[0].is_taken:
            self._waiting.popleft()
        while self._done:
            finished = self._done.popleft()
            if not finished.done():
                finished.set_result(None)


class _Exchange:
    """One request on its way through a thread."""

    __slots__ = (
        "_is_free",
        "environ",
        "fetch",
        "finished",
        "headers",
        "protocol",
        "since",
        "status",
    )

    def __init__(
        self,
        environ: Environ,
        protocol: HTTPProtocol,
        finished: "asyncio.Future[None]",
        since: float,
        fetch: Fetch | None,
    ) -> None:
        self.environ = environ
        self.fetch = fetch
        self.protocol = protocol
        self.finished = finished
        self.since = since
        self.status = 500
        self.headers: list[tuple[str, str]] = []
        self._is_free = threading.Lock()

    @property
    def is_taken(self) -> bool:
        """Say whether somebody answers it."""
        return self._is_free.locked()

    def take(self) -> bool:
        """Undertake to answer it; the first who calls this does."""
        return self._is_free.acquire(blocking=False)

    def refuse(self) -> None:
        """Answer that there is no room."""
        with suppress(ProtocolClosed):
            self.protocol.response_bytes(503, [*_AGAIN, _LAST], _BUSY)

    def run(self, application: Wsgi, new_outlet: Callable[[], Outlet]) -> None:
        """Ask the application and send what it says; an answer nobody waits for is dropped."""
        fetched = self.fetch() if self.fetch is not None else None
        if fetched is not None:
            with suppress(ProtocolClosed):
                self.protocol.response_bytes(fetched.status, fetched.headers, fetched.body)
            return
        chunks = application(self.environ, self._start)
        try:
            if isinstance(chunks, list) and len(chunks) <= 1:
                self.protocol.response_bytes(self.status, self.headers, b"".join(chunks))
            else:
                self._stream(chunks, new_outlet)
        except (ProtocolClosed, ClientGone):
            pass
        finally:
            if hasattr(chunks, "close"):
                chunks.close()

    def _start(self, status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        self.status = int(status[:3])
        if _UNTYPED in headers:
            headers = [header for header in headers if header != _UNTYPED]
        self.headers = headers

    def _stream(self, chunks: Iterable[bytes], new_outlet: Callable[[], Outlet]) -> None:
        file: tuple[int, int, int] | None = getattr(chunks, "file", None)
        if file is not None and CAN_SPLICE:
            with new_outlet() as outlet:
                self.protocol.response_file(self.status, self.headers, outlet.name)
                if not outlet.splice(*file):
                    _log.warning("a file broke off while it was sent")
            return
        pieces = iter(chunks)
        first = next(pieces, b"")
        if not first:
            self.protocol.response_bytes(self.status, self.headers, b"")
            return
        with new_outlet() as outlet:
            self.protocol.response_file(self.status, self.headers, outlet.name)
            for chunk in chain((first,), pieces):
                outlet.write(chunk)


class _Feed:
    """Brings a large body from Granian to who reads it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, length: int | None, pause_s: float) -> None:
        self._length = length
        self._room = asyncio.Event()
        self.intake = Intake(partial(loop.call_soon_threadsafe, self._room.set), pause_s)

    async def run(self, protocol: HTTPProtocol, finished: "asyncio.Future[None]") -> None:
        """Take the body, no faster than it is read; what nobody reads is not taken."""
        this = asyncio.current_task()
        assert this is not None  # noqa: S101 - this is a coroutine

        def stop(_: object) -> None:
            this.cancel()  # the answer is out; a client that sends no more must not hold us

        finished.add_done_callback(stop)
        try:
            await self._take(protocol)
        except asyncio.CancelledError:
            if not finished.done():
                raise
            this.uncancel()
        finally:
            finished.remove_done_callback(stop)

    async def _take(self, protocol: HTTPProtocol) -> None:
        empty = 0
        count = 0
        await self._room.wait()
        async for chunk in protocol:
            if not chunk:
                empty += 1
                continue
            count += len(chunk)
            self.intake.add(chunk)
            while self.intake.is_full:
                self._room.clear()
                if self.intake.is_full:
                    await self._room.wait()
        self.intake.end(broken=empty > 1 if self._length is None else count != self._length)
