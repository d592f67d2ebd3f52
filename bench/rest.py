# SPDX-License-Identifier: Apache-2.0
"""The REST API over HTTP, two workers, beside bare handlers behind the same adapter.

The yardsticks return the same bytes, read the same file, or write one as durably. Load, server and
yardstick share the two cores.
"""

import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, repeat
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import msgspec

from http_load import Load, load
from lakes import FOLDER
from measure import Row, chosen

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.ports import free_port  # noqa: E402 - tests are no package
from support.server import Server, running_server  # noqa: E402

SECONDS = chosen(4.0, small=0.3)
ROUNDS = chosen(3, small=1)
STAT_CONNECTIONS, OBJECT_CONNECTIONS = 64, 16
LEAST_STAT_COMMIT, LEAST_STAT_BRANCH = 0.5, 0.2
LEAST_GET, LEAST_PUT = 0.5, 0.3
OBJECT = b"0123456789abcdef" * 256
LAKEFS_PLAN = 625  # requests/s a core, from lakeFS's sizing guide


def main() -> list[Row]:
    """Measure stat, small objects in and out."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="rest-", dir=FOLDER) as name:
        folder = Path(name)
        with running_server(folder / "lake") as server:
            asked = _Asked(server)
            stat = asked.stat(asked.commit)
            (folder / "answer").write_bytes(_body(server, stat))
            (folder / "object").write_bytes(OBJECT)
            (folder / "written").mkdir()
            with _bare(folder) as port:
                return _rows(asked, port)


def _rows(asked: "_Asked", bare: int) -> list[Row]:
    bare_stat = _request("GET", "/bytes")
    rows = []
    for ref, least in ((asked.commit, LEAST_STAT_COMMIT), ("main", LEAST_STAT_BRANCH)):
        ours, theirs = _both(asked, asked.stat(ref), bare, bare_stat, STAT_CONNECTIONS)
        rows.append(_row(f"stat by {'branch' if ref == 'main' else 'commit id'}", ours, theirs, least))
    get = asked.request("GET", f"/refs/{asked.commit}/objects?path=data%2Fobject")
    ours, theirs = _both(asked, get, bare, _request("GET", "/file"), OBJECT_CONNECTIONS)
    rows.append(_row("GET of 4 KiB by commit id", ours, theirs, LEAST_GET))
    numbers = count()
    puts = (
        asked.request("POST", f"/branches/main/objects?path=in%2F{n}", OBJECT) for n in numbers
    )
    bare_put = _request("PUT", "/file", OBJECT)
    ours, theirs = _both(asked, puts, bare, bare_put, OBJECT_CONNECTIONS)
    rows.append(_row("durable PUT of 4 KiB", ours, theirs, LEAST_PUT))
    return rows


def _both(
    asked: "_Asked", ours: bytes | Iterator[bytes], bare: int, theirs: bytes, connections: int
) -> tuple[Load, Load]:
    """Load both by turns, and keep the best of each."""
    requests = repeat(ours) if isinstance(ours, bytes) else ours
    found: list[tuple[Load, Load]] = []
    for _ in range(ROUNDS):
        one = load(asked.port, requests, connections=connections, seconds=SECONDS)
        other = load(bare, repeat(theirs), connections=connections, seconds=SECONDS)
        assert not one.refused, "a request was refused"
        found.append((one, other))
    return max((f[0] for f in found), key=_rate), max((f[1] for f in found), key=_rate)


def _rate(one: Load) -> float:
    return one.rate


def _row(what: str, ours: Load, theirs: Load, least: float) -> Row:
    ratio = ours.rate / theirs.rate
    return Row(
        f"REST: {what}, {2} workers",
        f"{ours.rate:,.0f}/s, p99 {ours.percentile(0.99) * 1e3:.1f} ms",
        f"bare handler {theirs.rate:,.0f}/s, p99 {theirs.percentile(0.99) * 1e3:.1f} ms",
        ratio,
        f">= {least:.0%}",
        ratio >= least,
    )


class _Asked:
    """Requests to one repository with one object, committed."""

    def __init__(self, server: Server) -> None:
        self.port = int(server.url.rpartition(":")[2])
        self._auth = b64encode(":".join(server.auth).encode()).decode()
        with httpx.Client(base_url=server.api, auth=server.auth) as client:
            namespace = f"local://{server.lake}/objects/bench"
            told = {"name": "bench", "storage_namespace": namespace}
            client.post("/repositories", json=told).raise_for_status()
            where = "/repositories/bench/branches/main"
            given = {"params": {"path": "data/object"}, "content": OBJECT}
            client.post(f"{where}/objects", **given).raise_for_status()
            made = client.post(f"{where}/commits", json={"message": "one object"})
            self.commit = str(made.raise_for_status().json()["id"])

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Make a request with credentials."""
        return _request(method, f"/api/v1/repositories/bench{path}", body, self._auth)

    def stat(self, ref: str) -> bytes:
        """Make a request for what is known of the object."""
        return self.request("GET", f"/refs/{ref}/objects/stat?path=data%2Fobject")


def _request(method: str, path: str, body: bytes = b"", auth: str = "") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\nuser-agent: bench\r\n"
    if auth:
        head += f"authorization: Basic {auth}\r\n"
    if body:
        head += f"content-length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def _body(server: Server, request: bytes) -> bytes:
    path = request.split(b" ")[1].decode()
    return httpx.get(server.url + path, auth=server.auth).raise_for_status().content


@contextmanager
def _bare(folder: Path) -> Iterator[int]:
    port = free_port()
    script = Path(__file__).parent / "bare_server.py"
    server = subprocess.Popen([sys.executable, str(script), str(folder), str(port)])
    try:
        for _ in range(200):
            try:
                httpx.get(f"http://127.0.0.1:{port}/bytes")
            except httpx.TransportError:
                continue
            break
        yield port
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
