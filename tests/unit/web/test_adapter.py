# SPDX-License-Identifier: Apache-2.0
"""The adapter behind a real Granian: bodies, headers, memory."""

import hashlib
import http.client
import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from support import echo_server
from support.ports import free_port

MIB = 1 << 20
CHUNKED = {"transfer__encoding": "chunked"}


class Echo:
    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self, method: str, path: str, body: bytes | Iterable[bytes] | None = None, **headers: str
    ) -> Any:  # noqa: ANN401 - JSON
        named = {name.replace("__", "-"): value for name, value in headers.items()}
        with closing(self.connection()) as connection:
            connection.request(
                method, path, body, named, encode_chunked="transfer-encoding" in named
            )
            return json.loads(connection.getresponse().read())

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)


@pytest.fixture(scope="module")
def echo() -> Iterator[Echo]:
    port = free_port()
    command = [sys.executable, str(Path(echo_server.__file__)), str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_open(port)
        yield Echo(port)
    finally:
        server.terminate()
        assert server.wait(10) == 0


def wait_until_open(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server did not start")


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("size", [0, 1, 256 << 10, (256 << 10) + 1, 5 * MIB])
def test_a_body_with_a_length_arrives_whole(echo: Echo, size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    assert echo.ask("PUT", f"/sized-{size}", data[:size]) == size
    assert echo.ask("GET", "/stored")[f"/sized-{size}"] == md5(data[:size])


def test_a_chunked_body_arrives_whole(echo: Echo) -> None:
    pieces = [b"a" * 10, b"b" * MIB, b"c" * (3 * MIB)]
    assert echo.ask("PUT", "/chunked", iter(pieces), **CHUNKED) == 4 * MIB + 10
    assert echo.ask("GET", "/stored")["/chunked"] == md5(b"".join(pieces))


def test_header_names_survive(echo: Echo) -> None:
    with echo.socket() as raw:
        raw.sendall(
            b"GET /told?path=a%2Fb+c HTTP/1.1\r\nhost: x\r\nx-lakefs-meta-my_key: 1\r\n"
            b"X-Lakefs-Meta-My-Key: 2\r\nx-twice: a\r\nx-twice: b\r\nconnection: close\r\n\r\n"
        )
        told = json.loads(b"".join(iter(lambda: raw.recv(MIB), b"")).partition(b"\r\n\r\n")[2])
    assert ["x-lakefs-meta-my_key", "1"] in told["headers"]
    assert ["x-lakefs-meta-my-key", "2"] in told["headers"]
    assert [value for name, value in told["headers"] if name == "x-twice"] == ["a", "b"]
    assert told["query"] == "path=a%2Fb+c"


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize(
    ("name", "head", "sent"),
    [
        ("sized", b"content-length: 2000000\r\n\r\n", b"z" * 1_000_000),
        ("chunked", b"transfer-encoding: chunked\r\n\r\n", b"f4240\r\n" + b"z" * 1_000_000),
        ("between", b"transfer-encoding: chunked\r\n\r\n", b"3\r\nabc\r\n"),
        ("garbled", b"transfer-encoding: chunked\r\n\r\n", b"3\r\nabc\r\nxyz\r\n"),
    ],
)
def test_a_body_that_breaks_off_is_never_taken_for_whole(
    echo: Echo,
    name: str,
    head: bytes,
    sent: bytes,
    reset: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    path = f"/{name}-{reset}"
    with echo.socket() as raw:
        raw.sendall(f"PUT {path} HTTP/1.1\r\nhost: x\r\n".encode() + head + sent)
        if reset:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    for _ in range(200):
        if path in (found := echo.ask("GET", "/stored")):
            assert found[path] == "body-incomplete"
            return
        time.sleep(0.02)
    pytest.fail("the request never ended")


def test_memory_stays_bounded_while_much_goes_in_and_out(echo: Echo) -> None:
    before = echo.ask("GET", "/memory")
    size = 256
    assert echo.ask("PUT", "/large", (b"\0" * MIB for _ in range(size)), **CHUNKED) == size * MIB
    with closing(echo.connection()) as connection:
        connection.request("GET", f"/give/{size}")
        answer = connection.getresponse()
        time.sleep(0.3)  # a slow reader: what is made meanwhile must wait, not gather
        count = sum(len(chunk) for chunk in iter(lambda: answer.read(MIB), b""))
    assert count == size * MIB
    grown = echo.ask("GET", "/memory") - before
    print(f"grew by {grown / 1024:.0f} MiB over 256 MiB in and 256 MiB out")
    assert grown < 48 * 1024


def test_an_upload_that_is_not_read_ends_with_its_answer(echo: Echo) -> None:
    with echo.socket() as raw:
        raw.sendall(b"PUT /refuse HTTP/1.1\r\nhost: x\r\ncontent-length: 9000000\r\n\r\n")
        with suppress(BrokenPipeError, ConnectionResetError):  # the answer may be there before
            raw.sendall(b"z" * MIB)
        assert raw.recv(100).startswith(b"HTTP/1.1 200")
