# SPDX-License-Identifier: Apache-2.0
"""Large bodies pass through workers that stay small."""

import http.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from support.flight import AUTHORIZATION
from support.kept import client_of, new_repository
from support.launcher import Launched, Launcher

MIB = 1 << 20
PIECE = bytes(range(256)) * 4096
MOST_MIB = 300


@pytest.fixture
def server(launcher: Launcher, tmp_path: Path) -> Iterator[Launched]:
    lake = tmp_path / "lake"
    with launcher.running(lake) as started:
        with client_of(started) as client:
            new_repository(client, lake, "rep")
        yield started


def connect(server: Launched) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)


def put(server: Launched, path: str, mib: int) -> None:
    place = f"/api/v1/repositories/rep/branches/main/objects?path={path}"
    headers = {
        "Authorization": AUTHORIZATION,
        "Content-Type": "application/octet-stream",
        "Content-Length": str(mib * MIB),
    }
    with closing(connect(server)) as connection:
        connection.request("POST", place, (PIECE for _ in range(mib)), headers)
        answer = connection.getresponse()
        assert answer.status == 201, answer.read()


def begin_get(
    server: Launched, path: str
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = connect(server)
    place = f"/api/v1/repositories/rep/refs/main/objects?path={path}"
    connection.request("GET", place, headers={"Authorization": AUTHORIZATION})
    answer = connection.getresponse()
    assert answer.status == 200
    return connection, answer


def get(server: Launched, path: str, mib: int) -> None:
    connection, answer = begin_get(server, path)
    with closing(connection):
        for _ in range(mib):
            assert answer.read(MIB) == PIECE
        assert not answer.read()


def peaks_mib(server: Launched) -> list[int]:
    """Give the most that each worker has ever had resident."""
    found = []
    for worker in server.workers():
        lines = Path(f"/proc/{worker}/status").read_text().splitlines()
        found += [int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")]
    assert len(found) == 2
    return found


def require_small(server: Launched) -> None:
    peaks = peaks_mib(server)
    print(f"workers had at most {peaks} MiB")
    assert max(peaks) < MOST_MIB


def test_a_gibibyte_in_and_out_leaves_workers_small(server: Launched) -> None:
    put(server, "large", 1024)
    get(server, "large", 1024)
    require_small(server)


@pytest.mark.campaign
def test_twenty_gibibytes_in_and_out_leave_workers_small(server: Launched) -> None:
    put(server, "large", 20 * 1024)
    get(server, "large", 20 * 1024)
    require_small(server)


def test_many_at_once_and_slow_readers_leave_workers_small(server: Launched) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: put(server, f"at-once-{number}", 24), range(8)))
    with ExitStack() as opened:
        slow = []
        for number in range(14):  # fewer than one worker's threads, should it get all of them
            connection, answer = begin_get(server, f"at-once-{number % 8}")
            opened.enter_context(closing(connection))
            assert answer.read(MIB) == PIECE
            slow.append(answer)
        get(server, "at-once-0", 24)  # the slow ones do not stop the others
        for answer in slow[:4]:
            assert answer.read() == PIECE * 23
    require_small(server)
