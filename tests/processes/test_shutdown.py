# SPDX-License-Identifier: Apache-2.0
"""SIGTERM: what is under way ends well, nothing that was acknowledged is lost, the status is 0."""

import http.client
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep

import pytest

from support.flight import AUTHORIZATION, Answer, Flight, Request, commit, upload
from support.kept import Kept, client_of, new_repository, require_sound
from support.launcher import Launched, Launcher, is_alive, set_up
from support.server import Server, running_server

MIB = 1 << 20
PIECE = bytes(range(256)) * 4096
PIECES = 24


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


@pytest.fixture
def server(launcher: Launcher, lake: Path) -> Iterator[Launched]:
    started = launcher.start(lake, settings={"LOCHAN_DRAIN_SECONDS": "20"})
    try:
        set_up(started)
        with client_of(started) as client:
            new_repository(client, lake, "rep")
        yield started
    finally:
        started.stop()


def thousand() -> list[Request]:
    """Give 700 durable writes on several branches, 100 commits of these, 200 reads."""
    found = []
    for number in range(1000):
        branch = f"b{number % 5}"
        if number % 10 == 4:
            found.append(commit("rep", branch, f"commit {number}"))
        elif number % 5 == 2:
            found.append(Request("GET", "/repositories/rep/refs/main/objects/ls"))
        else:
            found.append(upload("rep", branch, f"in-flight/{number}", f"{number} ".encode() * 100))
    return found


def test_a_thousand_requests_in_flight_at_sigterm_lose_nothing(
    launcher: Launcher, lake: Path, server: Launched
) -> None:
    with client_of(server) as client:
        for number in range(5):
            told = {"name": f"b{number}", "source": "main"}
            client.post("/repositories/rep/branches", json=told).raise_for_status()
    requests = thousand()
    flight = Flight(server.port, requests)
    flight.start()
    before = flight.land(most=10)
    server.signal(signal.SIGTERM)
    began = monotonic()
    flight.land(seconds=25)
    assert server.wait(25) == 0
    seconds = monotonic() - began
    assert seconds < 20
    answers = flight.answers()
    kept = Kept("rep")
    for request, answer in zip(requests, answers, strict=True):
        kept.note(request, answer)
    answered = [answer for answer in answers if answer is not None]
    print(
        f"{before} answered before SIGTERM, {len(answered) - before} after it in {seconds:.1f} s,"
        f" {len(answers) - len(answered)} not at all; {len(kept)} writes acknowledged"
    )
    assert len(answered) - before >= 500  # fewer on a slow machine
    assert {answer.status for answer in answered} <= {200, 201, 429}
    require_sound(lake)
    with launcher.running(lake) as again, client_of(again) as client:
        kept.require_all(client)


def refuses(port: int) -> bool:
    """Say whether nobody accepts connections; one that is taken and never answered fails."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as probe:
            probe.sendall(b"GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n")
            return not probe.recv(100).startswith(b"HTTP/1.1 200")
    except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError):
        return True


def wait_until_refused(port: int) -> None:
    for _ in range(500):
        if refuses(port):
            return
        sleep(0.01)
    pytest.fail("the server still takes requests")


def begin_upload(server: Launched, path: str) -> http.client.HTTPConnection:
    """Send the head and a piece of an upload that has many."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.putrequest("POST", f"/api/v1/repositories/rep/branches/main/objects?path={path}")
    connection.putheader("Authorization", AUTHORIZATION)
    connection.putheader("Content-Type", "application/octet-stream")
    connection.putheader("Content-Length", str(PIECES * len(PIECE)))
    connection.endheaders()
    connection.send(PIECE)
    return connection


def end_upload(connection: http.client.HTTPConnection) -> Answer:
    for _ in range(PIECES - 1):
        connection.send(PIECE)
    answer = connection.getresponse()
    return Answer(answer.status, answer.read())


def test_an_upload_and_a_download_under_way_end_well_while_others_are_refused(
    launcher: Launcher, lake: Path, server: Launched
) -> None:
    with closing(begin_upload(server, "before")) as connection:
        assert end_upload(connection).status == 201
    place = "/api/v1/repositories/rep/refs/main/objects?path=before"
    with (
        closing(begin_upload(server, "during")) as up,
        closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as down,
    ):
        down.request("GET", place, headers={"Authorization": AUTHORIZATION})
        answer = down.getresponse()
        assert answer.read(MIB) == PIECE
        server.signal(signal.SIGTERM)
        wait_until_refused(server.port)
        assert end_upload(up).status == 201
        assert answer.read() == PIECE * (PIECES - 1)
    assert server.wait() == 0
    with launcher.running(lake) as again, client_of(again) as client:
        found = client.get("/repositories/rep/refs/main/objects", params={"path": "during"})
        assert found.content == PIECE * PIECES


def test_readiness_says_no_before_requests_are_refused(launcher: Launcher, lake: Path) -> None:
    server = launcher.start(lake, settings={"LOCHAN_DRAIN_NOTICE_SECONDS": "1"})
    set_up(server)
    server.signal(signal.SIGTERM)
    give_up = monotonic() + 0.8
    with client_of(server) as client:
        while (ready := client.get(f"{server.url}/readyz")).status_code == 200:
            assert monotonic() < give_up, "the server says that it is ready"
        assert (ready.status_code, "draining" in ready.text) == (503, True)
        assert client.get("/user").status_code == 200
    assert server.wait() == 0


def test_a_second_sigterm_ends_at_once(lake: Path, server: Launched) -> None:
    with closing(begin_upload(server, "never")):
        server.signal(signal.SIGTERM)
        wait_until_refused(server.port)
        server.signal(signal.SIGTERM)
        assert server.wait(3) == 128 + signal.SIGTERM
    require_sound(lake)


def test_what_does_not_end_within_the_drain_is_broken_off(launcher: Launcher, lake: Path) -> None:
    server = launcher.start(lake, settings={"LOCHAN_DRAIN_SECONDS": "1"})
    set_up(server)
    with client_of(server) as client:
        new_repository(client, lake, "rep")
    with closing(begin_upload(server, "never")):
        began = monotonic()
        assert server.stop() == 0
        assert 0.5 < monotonic() - began < 4
    require_sound(lake)


def test_a_signal_to_all_processes_ends_the_command_well(tmp_path: Path) -> None:
    """As Ctrl-C, or a service manager, sends it: to the parent and to its workers."""
    with running_server(tmp_path / "lake") as server:
        for worker in children(server):
            os.kill(worker, signal.SIGTERM)
        assert server.stop() == 0


def children(server: Server) -> list[int]:
    pid = server.process.pid
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_workers_end_when_their_parent_is_gone(lake: Path, server: Launched) -> None:
    workers = server.workers()
    server.signal(signal.SIGKILL)
    assert server.wait() == -signal.SIGKILL
    for worker in workers:
        for _ in range(500):
            if not is_alive(worker):
                break
            sleep(0.01)
        else:
            pytest.fail("a worker serves on without its parent")
    require_sound(lake)
