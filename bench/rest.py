# SPDX-License-Identifier: Apache-2.0
"""The REST API over HTTP, two workers, beside bare handlers behind the same adapter.

The yardsticks get the same requests and give the same bytes, read the same file, or write one as
durably. Load, server and yardstick share the two cores.
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
from lochan.web.at_once import Answer
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
_BY_GRANIAN = frozenset({"date", "server"})
LAKEFS_LIST_MS = 75  # p90 of a page of 1,000, from lakeFS's sizing guide
COUNT = chosen(10_000_000, small=20_000)


def main() -> list[Row]:
    """Measure stat, small objects in and out."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="rest-", dir=FOLDER) as name:
        folder = Path(name)
        with running_server(folder / "lake") as server:
            asked = _Asked(server)
            samples = {"stat": asked.stat(asked.commit), "get": asked.get(), "put": asked.put(0)}
            for kind, request in samples.items():
                answer = msgspec.json.encode(_answer(server, request))
                (folder / f"{kind}.json").write_bytes(answer)
            (folder / "object").write_bytes(OBJECT)
            (folder / "written").mkdir()
            with _bare(folder) as port:
                rows = _rows(asked, port)
            return [*rows, *_listings(server, asked)]


def _rows(asked: "_Asked", bare: int) -> list[Row]:
    rows = []
    for ref, least in ((asked.commit, LEAST_STAT_COMMIT), ("main", LEAST_STAT_BRANCH)):
        stats = _both(asked, repeat(asked.stat(ref)), bare, STAT_CONNECTIONS)
        rows.append(_row(f"stat by {'branch' if ref == 'main' else 'commit id'}", *stats, least))
    gets = _both(asked, repeat(asked.get()), bare, OBJECT_CONNECTIONS)
    rows.append(_row("GET of 4 KiB by commit id", *gets, LEAST_GET))
    puts = _both(asked, map(asked.put, count(1)), bare, OBJECT_CONNECTIONS)
    rows.append(_row("durable PUT of 4 KiB", *puts, LEAST_PUT))
    return rows


def _both(
    asked: "_Asked", requests: Iterator[bytes], bare: int, connections: int
) -> tuple[Load, Load]:
    """Load both by turns with the same requests, and keep the best of each."""
    found: list[tuple[Load, Load]] = []
    for _ in range(ROUNDS):
        one = load(asked.port, requests, connections=connections, seconds=SECONDS)
        other = load(bare, requests, connections=connections, seconds=SECONDS)
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

    def get(self) -> bytes:
        """Make a request for its bytes."""
        return self.request("GET", f"/refs/{self.commit}/objects?path=data%2Fobject")

    def put(self, number: int) -> bytes:
        """Make a request that stores one more."""
        return self.request("POST", f"/branches/main/objects?path=in%2F{number}", OBJECT)


def _request(method: str, path: str, body: bytes = b"", auth: str = "") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\nuser-agent: bench\r\n"
    if auth:
        head += f"authorization: Basic {auth}\r\n"
    if body:
        head += f"content-length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def _answer(server: Server, request: bytes) -> Answer:
    """Ask once, and keep all that was said but what Granian adds by itself."""
    head, _, body = request.partition(b"\r\n\r\n")
    method, path, _ = head.split(b" ", 2)
    url = server.url + path.decode()
    found = httpx.request(method.decode(), url, content=body, auth=server.auth).raise_for_status()
    told = [header for header in found.headers.multi_items() if header[0] not in _BY_GRANIAN]
    return Answer(found.status_code, told, found.content)


@contextmanager
def _bare(folder: Path) -> Iterator[int]:
    port = free_port()
    script = Path(__file__).parent / "bare_server.py"
    server = subprocess.Popen([sys.executable, str(script), str(folder), str(port)])
    try:
        for _ in range(200):
            try:
                httpx.get(f"http://127.0.0.1:{port}/stat")
            except httpx.TransportError:
                continue
            break
        yield port
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
