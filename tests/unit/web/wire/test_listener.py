# SPDX-License-Identifier: Apache-2.0
"""Connections to an address that threads serve, over real sockets."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

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


@contextmanager
def serving(folder: Path, *, threads: int = 8, pause_s: float = 5.0) -> Iterator[Served]:
    file = folder / "file"
    file.write_bytes(FILE)
    application = Application(file)
    address = Address("127.0.0.1", free_port())
    listener = Listener(
        address, application, RealEnvironment(), threads=threads, pause_s=pause_s, drain_s=5.0
    )
    with closing(listener):
        listener.start()
        yield Served(address, application, listener)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as started:
        yield started


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


def test_a_connection_serves_one_request_after_the_other(served: Served) -> None:
    with served.client() as client:
        for _ in range(3):
            client.sendall(GET % b"")
            head, _, body = answer_of(client, 5).partition(b"\r\n\r\n")
            assert head == b"HTTP/1.1 200 OK\r\ncontent-length: 5"
            assert body == b"hello"


def test_requests_that_come_together_are_answered_in_their_order(served: Served) -> None:
    last = b"GET /pieces HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    with served.client() as client:
        client.sendall(GET % b"" + b"\r\n" + last)
        found = to_the_end(client)
    assert found.index(b"hello") < found.index(b"one two")
    assert found.count(b"HTTP/1.1 200") == 2


def test_what_has_no_length_ends_with_the_connection(served: Served) -> None:
    with served.client() as client:
        client.sendall(GET % b"pieces")
        found = to_the_end(client)
    assert b"connection: close" in found
    assert found.endswith(b"\r\n\r\none two")


def test_an_answer_that_breaks_off_ends_the_connection(served: Served) -> None:
    with served.client() as client:
        client.sendall(GET % b"broken" + GET % b"")
        found = to_the_end(client)
    assert found.endswith(b"\r\n\r\none two"), "the next answer would be taken for the rest"


def test_a_file_is_sent_from_where_it_was_asked(served: Served) -> None:
    with served.client() as client:
        for _ in range(2):
            client.sendall(GET % b"file")
            assert answer_of(client, len(FILE) - 5).partition(b"\r\n\r\n")[2] == FILE[5:]
    assert all(sent.is_closed.wait(5) for sent in served.application.files)


def test_a_head_is_answered_without_a_body(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert to_the_end(client).endswith(b"content-length: 5\r\nconnection: close\r\n\r\n")


def test_who_hangs_up_within_a_file_frees_it(served: Served) -> None:
    with served.client() as client:
        client.sendall(GET % b"file")
        client.recv(1000)
    (sent,) = served.application.files
    assert sent.is_closed.wait(5)


def test_who_reads_nothing_for_too_long_is_left(tmp_path: Path) -> None:
    with serving(tmp_path, pause_s=0.2) as served, served.client() as client:
        client.sendall(GET % b"file")
        client.recv(1)
        (sent,) = served.application.files
        assert sent.is_closed.wait(5)


def test_a_client_that_waits_to_be_asked_is_asked(served: Served) -> None:
    head = b"PUT /body HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n"
    with served.client() as client:
        client.sendall(head)
        assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"abc")
        assert client.recv(1000).startswith(b"HTTP/1.1 201")
    assert served.application.bodies == [b"abc"]


def test_a_body_that_nobody_wants_costs_the_connection_but_not_the_answer(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 3000000\r\n\r\n")
        client.sendall(bytes(3_000_000))
        found = to_the_end(client)
    assert found.startswith(b"HTTP/1.1 200")
    assert b"connection: close" in found


@pytest.mark.parametrize("sent", [b"content-length: 5\r\n\r\nabc", b"content-length: 5\r\n\r\n"])
def test_half_a_body_is_no_body(served: Served, sent: bytes) -> None:
    with served.client() as client:
        client.sendall(b"PUT /body HTTP/1.1\r\nhost: x\r\n" + sent)
        client.shutdown(socket.SHUT_WR)
        to_the_end(client)
    assert served.application.bodies == ["body-incomplete"]


def test_what_is_no_request_is_refused_with_a_word(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"nonsense\r\n\r\n" + GET % b"")
        found = to_the_end(client)
    assert found.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"hello" not in found


def test_a_head_without_an_end_is_refused(served: Served) -> None:
    with served.client() as client:
        client.sendall(b"GET / HTTP/1.1\r\nx: " + b"a" * (17 << 10))
        assert to_the_end(client).startswith(b"HTTP/1.1 431")


def test_rel_S18_a_head_that_comes_drop_by_drop_is_not_waited_for(tmp_path: Path) -> None:
    with serving(tmp_path, pause_s=0.3) as served, served.client() as client:
        drops = 0
        client.settimeout(0.05)
        for drop in b"GET / HTTP/1.1\r\nhost: " + b"x" * 1000:
            try:
                client.sendall(bytes([drop]))
                drops += 1
                assert client.recv(1) == b""
                break
            except TimeoutError:
                continue
            except ConnectionError:
                break
        assert drops < 100


def test_a_bug_or_a_header_of_two_lines_ends_a_connection_and_no_more(served: Served) -> None:
    for path, answer in ((b"bug", b""), (b"evil", b""), (b"", b"HTTP/1.1 200")):
        with served.client() as client:
            client.sendall(GET % path)
            client.shutdown(socket.SHUT_WR)
            assert to_the_end(client)[:12] == answer


def test_no_more_are_served_at_once_than_there_are_threads(tmp_path: Path) -> None:
    with serving(tmp_path, threads=1) as served, served.client() as first:
        first.sendall(GET % b"slow")
        assert served.application.begun.wait(5)
        with served.client() as second:
            second.sendall(GET % b"")
            second.settimeout(0.2)
            with pytest.raises(TimeoutError):
                second.recv(1)
            served.application.go_on.set()
            second.settimeout(5)
            found = to_the_end(second)
    assert b"hello" in found
    assert b"connection: close" in found, "others may wait for this thread"


def test_it_ends_after_the_last_answer_and_idle_connections_do_not_keep_it(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as served, served.client() as idle, served.client() as busy:
        idle.sendall(GET % b"")
        answer_of(idle, 5)
        busy.sendall(b"PUT /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nab")
        assert served.application.begun.wait(5)
        ending = threading.Thread(target=served.listener.close)
        ending.start()
        assert idle.recv(1) == b""
        assert ending.is_alive()
        served.application.go_on.set()
        busy.sendall(b"c")
        found = to_the_end(busy)
        ending.join(5)
        assert not ending.is_alive()
    assert found.startswith(b"HTTP/1.1 201")
    assert b"connection: close" in found
    assert served.application.bodies == [b"abc"]
    with pytest.raises(ConnectionRefusedError), served.client():
        pass


def test_an_address_that_is_taken_is_an_error(served: Served, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = Address("127.0.0.1", other.getsockname()[1])
        with pytest.raises(OSError, match="in use"):
            Listener(
                taken,
                served.application,
                RealEnvironment(),
                threads=1,
                pause_s=1.0,
                drain_s=1.0,
            )
