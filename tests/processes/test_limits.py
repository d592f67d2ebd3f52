# SPDX-License-Identifier: Apache-2.0
"""What slow and many clients may cost (S18): time within a body, room in the queue, threads."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pytest

from support.flight import AUTHORIZATION
from support.kept import client_of, new_repository
from support.launcher import Launched, Launcher

MIB = 1 << 20
BODY_S = 0.6
QUEUE_S = 0.8
THREADS = 2
WAITING = 3
SMALL = b"content-length: 1000\r\n\r\n" + b"z" * 10
LARGE = b"content-length: 9000000\r\n\r\n" + b"z" * 100_000
CHUNKED = b"transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"


@pytest.fixture(scope="module")
def server(launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launched]:
    lake: Path = tmp_path_factory.mktemp("limits") / "lake"
    limits = {
        "LOCHAN_THREADS": str(THREADS),
        "LOCHAN_LIMITS_BODY_SECONDS": str(BODY_S),
        "LOCHAN_LIMITS_QUEUE": str(WAITING),
        "LOCHAN_LIMITS_QUEUE_SECONDS": str(QUEUE_S),
    }
    with launcher.running(lake, workers=1, settings=limits) as started:
        with client_of(started) as client:
            new_repository(client, lake, "rep")
            place = "/repositories/rep/branches/main/objects?path=large"
            client.post(place, content=b"\0" * (64 * MIB)).raise_for_status()
        yield started


def connect(server: Launched) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def begin(server: Launched, body: bytes, path: str = "slow") -> socket.socket:
    """Send an upload's head and the beginning of its body."""
    raw = connect(server)
    place = f"/api/v1/repositories/rep/branches/main/objects?path={path}"
    head = f"POST {place} HTTP/1.1\r\nhost: x\r\nauthorization: {AUTHORIZATION}\r\n"
    raw.sendall(head.encode() + b"content-type: application/octet-stream\r\n" + body)
    return raw


def rest_of(raw: socket.socket) -> bytes:
    """Read until the server ends the connection."""
    found = b""
    try:
        while data := raw.recv(MIB):
            found += data
    except ConnectionResetError:
        pass
    return found


def is_stored(server: Launched, path: str) -> bool:
    with client_of(server) as client:
        found = client.get("/repositories/rep/refs/main/objects/stat", params={"path": path})
    return found.status_code == 200


# Twice: whether the connection ends may hang on who lets go of the body last.
@pytest.mark.parametrize("time", [1, 2])
@pytest.mark.parametrize("body", [SMALL, LARGE, CHUNKED], ids=["small", "large", "chunked"])
def test_rel_S18_a_client_that_pauses_within_a_body_is_cut_off(
    server: Launched, body: bytes, time: int
) -> None:
    with begin(server, body, f"paused-{time}") as raw:
        began = monotonic()
        answer = rest_of(raw)
        seconds = monotonic() - began
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"body-stalled"' in answer
    assert BODY_S / 2 < seconds < 5
    assert not is_stored(server, f"paused-{time}")


def test_rel_S18_clients_that_do_not_read_lose_their_threads(server: Launched) -> None:
    get = "GET /api/v1/repositories/rep/refs/main/objects?path=large HTTP/1.1\r\nhost: x\r\n"
    with ExitStack() as opened:
        idle = [opened.enter_context(connect(server)) for _ in range(THREADS)]
        for raw in idle:
            raw.sendall(f"{get}authorization: {AUTHORIZATION}\r\n\r\n".encode())
            assert raw.recv(15) == b"HTTP/1.1 200 OK"
        assert ask_again(server) == 200
        sleep(2 * BODY_S)  # they pause for longer than they may
        for raw in idle:
            assert len(rest_of(raw)) < 64 * MIB


def ask_again(server: Launched) -> int:
    """Ask for something small until there is an answer that is not 503."""
    give_up = monotonic() + 10
    with client_of(server) as client:
        while (status := client.get("/user").status_code) == 503:
            assert monotonic() < give_up, "the server is busy for ever"
            sleep(0.05)
    return status


def test_rel_S18_beyond_the_queue_and_too_long_in_it_is_503(server: Launched) -> None:
    """Both threads are held by uploads that trickle; three may wait; no more come in."""
    with ExitStack() as opened:
        held = [opened.enter_context(begin(server, CHUNKED)) for _ in range(THREADS)]
        trickle(held, 0.3)
        waiting = [opened.enter_context(connect(server)) for _ in range(WAITING)]
        for raw in waiting:
            raw.sendall(b"GET /livez HTTP/1.1\r\nhost: x\r\n\r\n")
        trickle(held, 0.2)
        beyond = opened.enter_context(connect(server))
        began = monotonic()
        beyond.sendall(b"GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        require_busy(rest_of(beyond))
        assert monotonic() - began < QUEUE_S / 2
        trickle(held, QUEUE_S * 1.5)
        for raw in waiting:
            require_busy(rest_of(raw))
        for raw in held:
            raw.sendall(b"0\r\n\r\n")
            assert raw.recv(12) == b"HTTP/1.1 201"


def trickle(held: list[socket.socket], seconds: float) -> None:
    until = monotonic() + seconds
    while monotonic() < until:
        for raw in held:
            raw.sendall(b"1\r\nx\r\n")
        sleep(BODY_S / 12)


def require_busy(answer: bytes) -> None:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503")
    assert b"\r\nretry-after: 1" in head
    assert json.loads(body)["code"] == "busy"
