# SPDX-License-Identifier: Apache-2.0
"""An address that threads serve, for tests: a listener, an application, clients on sockets."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lochan.config.values import Address
from lochan.environment import RealEnvironment
from lochan.web.body import BodyBroken
from lochan.web.environ import Environ
from lochan.web.wire.listener import Listener
from support.ports import free_port

GET = b"GET /%b HTTP/1.1\r\nhost: x\r\n\r\n"
FILE = bytes(range(256)) * 40_000  # ten MB: more than the kernel holds for a client


class Bytes:
    """A part of a file, as `object_reply.Chunks` has it."""

    def __init__(self, path: Path, start: int, stop: int) -> None:
        self._opened = path.open("rb")
        self.file = (self._opened.fileno(), start, stop)
        self.is_closed = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        raise AssertionError("the file itself is sent")

    def close(self) -> None:
        self._opened.close()
        self.is_closed.set()


@dataclass
class Application:
    """Answers by the path; notes what it saw."""

    file: Path
    bodies: list[bytes | str] = field(default_factory=list)
    files: list[Bytes] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, environ: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        answer = getattr(self, "on_" + (environ["PATH_INFO"].strip("/") or "hello"))
        found: Iterable[bytes] = answer(environ, start)
        return found

    def on_hello(self, _: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        start("200 OK", [("content-type", "")])
        return [b"hello"]

    def on_file(self, _: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        sent = Bytes(self.file, 5, len(FILE))
        self.files.append(sent)
        start("200 OK", [("content-length", str(len(FILE) - 5))])
        return sent

    def on_pieces(self, _: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        start("200 OK", [])
        return iter([b"one ", b"two"])

    def on_broken(self, _: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        start("200 OK", [("content-length", "10")])
        return iter([b"one ", b"two"])

    def on_body(self, environ: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        try:
            self.bodies.append(environ["wsgi.input"].read(-1))
        except BodyBroken as error:
            self.bodies.append(error.code)
        start("201 Created", [])
        return [b""]

    def on_slow(self, environ: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        self.begun.set()
        self.go_on.wait(10)
        return self.on_body(environ, start)

    def on_evil(self, _: Environ, start: Callable[..., object]) -> Iterable[bytes]:
        start("200 OK", [("x-name", "a\r\nx-evil: 1")])
        return [b"hello"]

    def on_bug(self, _: Environ, __: object) -> Iterable[bytes]:
        raise RuntimeError("a bug")


@dataclass
class Served:
    """A listener, and what it serves."""

    address: Address
    application: Application
    listener: Listener

    @contextmanager
    def client(self) -> Iterator[socket.socket]:
        with socket.create_connection(self.address, timeout=10) as opened:
            yield opened


class Crowded(RealEnvironment):
    """A machine that refuses a thread for the first connection."""

    def __init__(self) -> None:
        self._refusals = [True]

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        if name == "lochan connection" and self._refusals:
            self._refusals.pop()
            raise RuntimeError("can't start new thread")
        super().spawn(work, name=name)


class Slow(RealEnvironment):
    """A machine whose threads begin late."""

    def __init__(self) -> None:
        self.is_late, self.go_on = threading.Event(), threading.Event()

    def spawn(self, work: Callable[[], None], *, name: str) -> None:
        def late() -> None:
            self.is_late.set()
            self.go_on.wait(10)
            work()

        super().spawn(late if name == "lochan connection" else work, name=name)


@contextmanager
def serving(
    folder: Path,
    *,
    threads: int = 8,
    pause_s: float = 5.0,
    environment: RealEnvironment | None = None,
) -> Iterator[Served]:
    file = folder / "file"
    file.write_bytes(FILE)
    application = Application(file)
    address = Address("127.0.0.1", free_port())
    listener = Listener(
        address,
        application,
        environment or RealEnvironment(),
        threads=threads,
        pause_s=pause_s,
        drain_s=5.0,
    )
    with closing(listener):
        listener.start()
        yield Served(address, application, listener)


def to_the_end(client: socket.socket) -> bytes:
    found = b""
    while data := client.recv(1 << 20):
        found += data
    return found


def answer_of(client: socket.socket, count: int) -> bytes:
    """Read a head and so many bytes."""
    found = b""
    while len(found.partition(b"\r\n\r\n")[2]) < count:
        data = client.recv(1 << 20)
        assert data, found
        found += data
    return found
