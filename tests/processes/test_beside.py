# SPDX-License-Identifier: Apache-2.0
"""A server with addresses beside its main one: for the bytes of files, and for metrics."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep

import httpx
import pytest

from support.flight import AUTHORIZATION
from support.kept import client_of, new_repository
from support.launcher import Launched, Launcher
from support.ports import free_port

CREATE = "/webhdfs/v1/rep/main/{}?op=CREATE&overwrite=true"
OPEN = "/webhdfs/v1/rep/main/{}?op=OPEN"


class Beside:
    """A server and its other addresses."""

    def __init__(self, server: Launched, files: int, metrics: int) -> None:
        self.server = server
        self.files = files
        self.metrics = f"http://127.0.0.1:{metrics}"

    def sent_to(self, method: str, path: str) -> str:
        """Ask the main address for a file, and say where it sends us."""
        answer = httpx.request(method, f"{self.server.url}{path}", auth=self.server.auth)
        assert answer.status_code == 307, answer.text
        return answer.headers["location"]


@pytest.fixture(scope="module")
def beside(launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    lake: Path = tmp_path_factory.mktemp("beside") / "lake"
    files, metrics = free_port(), free_port()
    told = {
        "LOCHAN_WEBHDFS_LISTEN": f"127.0.0.1:{files}",
        "LOCHAN_METRICS_LISTEN": f"127.0.0.1:{metrics}",
        "LOCHAN_TRUSTED_PROXIES": "127.0.0.1",
    }
    with launcher.running(lake, workers=2, settings=told) as started:
        with client_of(started) as client:
            new_repository(client, lake, "rep")
        yield Beside(started, files, metrics)


def test_bytes_go_to_their_own_address_and_come_from_it(beside: Beside) -> None:
    content = os.urandom(3_000_000)
    where = beside.sent_to("PUT", CREATE.format("a%20b"))
    assert where.startswith(f"http://127.0.0.1:{beside.files}/webhdfs/v1/rep/main/a%20b?")
    pieces = (content[at : at + 32_768] for at in range(0, len(content), 32_768))
    put = httpx.put(where, content=pieces, auth=beside.server.auth)
    assert (put.status_code, put.content) == (201, b"")
    where = beside.sent_to("GET", OPEN.format("a%20b") + "&offset=17")
    assert f":{beside.files}/" in where
    assert httpx.get(where, auth=beside.server.auth).content == content[17:]


def test_who_shows_no_credentials_gets_nothing_there(beside: Beside) -> None:
    where = beside.sent_to("PUT", CREATE.format("secret"))
    assert httpx.put(where, content=b"x", auth=("nobody", "wrong")).status_code == 401
    assert httpx.put(where, content=b"x").status_code == 401


@pytest.mark.parametrize("path", ["/api/v1/repositories", "/metrics", "/docs", "/webhdfs/v1x"])
def test_nothing_else_is_served_there(beside: Beside, path: str) -> None:
    address = f"http://127.0.0.1:{beside.files}{path}"
    assert httpx.get(address, auth=beside.server.auth).status_code == 404


def test_a_body_that_breaks_off_stores_nothing(beside: Beside) -> None:
    target = beside.sent_to("PUT", CREATE.format("half")).partition(str(beside.files))[2]
    head = f"PUT {target} HTTP/1.1\r\nhost: x\r\nauthorization: {AUTHORIZATION}\r\n"
    sent = head.encode() + b"transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n4\r\nha"
    with socket.create_connection(("127.0.0.1", beside.files), timeout=10) as raw:
        raw.sendall(sent)
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(12) == b"HTTP/1.1 400"
    with client_of(beside.server) as client:
        stat = client.get("/repositories/rep/refs/main/objects/stat", params={"path": "half"})
    assert stat.status_code == 404


def test_metrics_need_no_credentials_at_their_own_address(beside: Beside) -> None:
    answer = httpx.get(f"{beside.metrics}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert "lochan_" in answer.text
    for path in ("/", "/metrics/x", "/api/v1/repositories", "/webhdfs/v1/rep?op=LISTSTATUS"):
        assert httpx.get(f"{beside.metrics}{path}").status_code == 404
    assert httpx.get(f"{beside.server.url}/metrics").status_code == 401


def until_refused(port: int) -> None:
    """Connect until nobody listens. Raises ConnectionRefusedError."""
    for _ in range(1000):
        with suppress(ConnectionResetError):  # it was about to be accepted
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
        sleep(0.01)


@pytest.mark.parametrize(
    ("headers", "place"),
    [
        ({"Host": "lake.example:8000"}, "http://lake.example:{files}/"),
        ({"Host": "[::1]:8000"}, "http://[::1]:{files}/"),
        ({"Host": "lake.example", "X-Forwarded-Proto": "https"}, "https://lake.example/"),
    ],
)
def test_a_client_is_sent_to_the_port_under_the_name_that_it_used_unless_it_came_by_tls(
    beside: Beside, headers: dict[str, str], place: str
) -> None:
    path = OPEN.format("b")
    with client_of(beside.server) as client:
        client.post("/repositories/rep/branches/main/objects?path=b", content=b"x" * 100)
    url = f"{beside.server.url}{path}"
    answer = httpx.get(url, headers=headers, auth=beside.server.auth)
    assert answer.status_code == 307, answer.text
    assert answer.headers["location"].startswith(place.format(files=beside.files))


def test_an_upload_under_way_is_finished_when_the_server_ends(
    launcher: Launcher, tmp_path: Path
) -> None:
    lake, files = tmp_path / "lake", free_port()
    told = {"LOCHAN_WEBHDFS_LISTEN": f"127.0.0.1:{files}"}
    with launcher.running(lake, workers=1, settings=told) as server:
        with client_of(server) as client:
            new_repository(client, lake, "rep")
        where = Beside(server, files, 0).sent_to("PUT", CREATE.format("late"))
        head = f"PUT {where.partition(str(files))[2]} HTTP/1.1\r\nhost: x\r\ncontent-length: 6\r\n"
        more = f"authorization: {AUTHORIZATION}\r\nexpect: 100-continue\r\n\r\n"
        with socket.create_connection(("127.0.0.1", files), timeout=20) as raw:
            raw.sendall((head + more).encode())
            assert raw.recv(100).startswith(b"HTTP/1.1 100"), "now somebody reads the body"
            raw.sendall(b"late")
            ending = threading.Thread(target=server.stop)
            ending.start()
            try:
                with pytest.raises(ConnectionRefusedError):
                    until_refused(files)
            finally:
                raw.sendall(b"st")
                answer = raw.recv(1000)
                ending.join(20)
        assert server.wait() == 0
    assert answer.startswith(b"HTTP/1.1 201")
    with launcher.running(lake, workers=1) as again, client_of(again) as client:
        found = client.get("/repositories/rep/refs/main/objects", params={"path": "late"})
    assert found.content == b"latest"
