# SPDX-License-Identifier: Apache-2.0
"""One real server for all tests of clients; each test makes repositories of its own."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import lakefs
import pytest
from lakefs.client import Client
from lakefs_sdk.client import LakeFSClient

from support.server import KEY_ID, KEY_SECRET, Server, running_server

_numbers = count(1)


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder of three files that the server may import where they lie."""
    folder = tmp_path_factory.mktemp("outside")
    for name in ("a.csv", "b.csv", "below/c.csv"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"content of {name}\n")
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, outside: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("clients")
    settings = {"LOCHAN_BLOCKSTORE_READABLE_FOLDERS": str(outside)}
    with running_server(folder / "lake", settings=settings) as started:
        yield started


@pytest.fixture
def repository(server: Server) -> str:
    """Make a repository with a branch main."""
    name = f"lake-{next(_numbers)}"
    told = {"name": name, "storage_namespace": f"local://{server.lake}/objects/{name}"}
    answer = httpx.post(f"{server.api}/repositories", json=told, auth=server.auth)
    assert answer.status_code == 201, answer.text
    return name


@pytest.fixture(scope="session")
def client(server: Server) -> Client:
    """Give lakeFS's own client, with lakeFS's own quickstart key."""
    return Client(host=server.url, username=KEY_ID, password=KEY_SECRET)


@pytest.fixture
def repo(client: Client, repository: str) -> lakefs.Repository:
    return lakefs.Repository(repository, client=client)


@pytest.fixture
def main(repo: lakefs.Repository) -> lakefs.Branch:
    """Give a branch with one commit of two objects."""
    branch = repo.branch("main")
    branch.object("a/one.txt").upload(b"one")
    branch.object("b/two.txt").upload(b"two")
    branch.commit("the first two")
    return branch


@pytest.fixture(scope="session")
def sdk(client: Client) -> LakeFSClient:
    """Give lakeFS's generated client, one object an API."""
    return client.sdk_client
