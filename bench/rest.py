# SPDX-License-Identifier: Apache-2.0
"""The REST API over HTTP, two workers, beside bare handlers behind the same adapter.

The yardsticks return the same bytes, read the same file, or write one as durably. Load, server and
yardstick share the two cores.
"""

import os
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, cycle, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import httpx
import msgspec
import numpy as np

from ground import MAIN
from http_load import Load, load
from lake_data import keys
from lakes import FOLDER
from lakes import folder_of as bench_folder
from lakes import open_lake as open_bench_lake
from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.model.ids import RepositoryId
from lochan.model.instant import EPOCH
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.request import Candidate, Said
from lochan.refs.repositories import get_repository
from measure import Row, chosen

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.ports import free_port
from support.server import Server, running_server

SECONDS = chosen(4.0, small=0.3)
ROUNDS = chosen(3, small=1)
STAT_CONNECTIONS, OBJECT_CONNECTIONS = 64, 16
LEAST_STAT_COMMIT, LEAST_STAT_BRANCH = 0.5, 0.2
LEAST_GET, LEAST_PUT = 0.5, 0.3
OBJECT = b"0123456789abcdef" * 256
LAKEFS_LIST_MS = 75  # p90 of a page of 1,000, from lakeFS's sizing guide
COUNT = chosen(10_000_000, small=20_000)


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
                rows = _rows(asked, port)
            return [*rows, *_listings(server, asked)]


def _rows(asked: "_Asked", bare: int) -> list[Row]:
    bare_stat = _request("GET", "/bytes")
    rows = []
    for ref, least in ((asked.commit, LEAST_STAT_COMMIT), ("main", LEAST_STAT_BRANCH)):
        ours, theirs = _both(asked, asked.stat(ref), bare, bare_stat, STAT_CONNECTIONS)
        rows.append(
            _row(f"stat by {'branch' if ref == 'main' else 'commit id'}", ours, theirs, least)
        )
    get = asked.request("GET", f"/refs/{asked.commit}/objects?path=data%2Fobject")
    ours, theirs = _both(asked, get, bare, _request("GET", "/file"), OBJECT_CONNECTIONS)
    rows.append(_row("GET of 4 KiB by commit id", ours, theirs, LEAST_GET))
    numbers = count()
    puts = (asked.request("POST", f"/branches/main/objects?path=in%2F{n}", OBJECT) for n in numbers)
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
        f"REST: {what}, two workers",
        f"{ours.rate:,.0f}/s, p99 {ours.percentile(0.99) * 1e3:.1f} ms",
        f"bare handler {theirs.rate:,.0f}/s, p99 {theirs.percentile(0.99) * 1e3:.1f} ms",
        ratio,
        f">= {least:.0%}",
        ratio >= least,
    )


def _listings(server: Server, asked: "_Asked") -> list[Row]:
    """List a repository of many objects, published beside the server that serves it."""
    snapshots, tree = open_bench_lake(COUNT)
    snapshots.close()
    large = server.lake / "objects" / "large"
    shutil.copytree(bench_folder(COUNT) / "objects", large, copy_function=os.link)
    with httpx.Client(base_url=server.api, auth=server.auth) as client:
        told = {"name": "large", "storage_namespace": f"local://{large}"}
        client.post("/repositories", json=told).raise_for_status()
    with open_lake(f"sqlite://{server.lake}/kv.db", RealEnvironment()) as lake:
        repository = get_repository(lake.store, lake.environment, RepositoryId("large"))
        said = Said("bench", "many objects", {}, EPOCH)
        advance(lake, repository, MAIN, said, lambda _: Candidate(tree), action=Action.IMPORT)
    drawn = keys(np.random.default_rng(1).integers(0, COUNT, 500, dtype=np.uint64))
    pages = [f"amount=1000&after={quote(key.decode(), safe='')}" for key in drawn]
    folders = ["amount=1000&delimiter=%2F&prefix=warehouse%2Fevents%2F"]
    return [
        _listing(asked, f"list 1,000 of {COUNT:,} objects, anywhere", pages),
        _listing(asked, f"list with a delimiter over {COUNT:,} objects", folders),
    ]


def _listing(asked: "_Asked", what: str, queries: list[str]) -> Row:
    requests = cycle(
        [asked.request("GET", f"/refs/main/objects/ls?{query}", name="large") for query in queries]
    )
    found = load(asked.port, requests, connections=1, seconds=SECONDS)
    assert not found.refused, "a request was refused"
    p90_ms = found.percentile(0.9) * 1e3
    return Row(
        f"REST: {what}",
        f"p90 {p90_ms:.1f} ms, {found.rate:,.0f}/s",
        f"lakeFS publishes p90 {LAKEFS_LIST_MS} ms",
        p90_ms / LAKEFS_LIST_MS,
        "< 1x",
        p90_ms < LAKEFS_LIST_MS,
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
            path = {"path": "data/object"}
            client.post(f"{where}/objects", params=path, content=OBJECT).raise_for_status()
            made = client.post(f"{where}/commits", json={"message": "one object"})
            self.commit = str(made.raise_for_status().json()["id"])

    def request(self, method: str, path: str, body: bytes = b"", *, name: str = "bench") -> bytes:
        """Make a request with credentials."""
        return _request(method, f"/api/v1/repositories/{name}{path}", body, self._auth)

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
