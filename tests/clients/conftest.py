# SPDX-License-Identifier: Apache-2.0
"""One real server for all tests of clients; each test makes repositories of its own."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import httpx
import pytest

from support.server import Server, running_server

_numbers = count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("clients")
    with running_server(folder / "lake") as started:
        yield started


@pytest.fixture
def repository(server: Server) -> str:
    """Make a repository with a branch main."""
    name = f"lake-{next(_numbers)}"
    told = {"name": name, "storage_namespace": f"local://{server.lake}/objects/{name}"}
    answer = httpx.post(f"{server.api}/repositories", json=told, auth=server.auth)
    assert answer.status_code == 201, answer.text
    return name
