# SPDX-License-Identifier: Apache-2.0
"""The same objects over both ways: a lake in this process, and one behind a real server."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest

import lochan
from lochan.client import Branch, Lake, Repository
from support.server import KEY_ID, KEY_SECRET, running_server

_numbers = count(1)


@pytest.fixture(scope="session")
def open_way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Lake]]:
    opened: dict[str, Lake] = {}
    with ExitStack() as closing:

        def way(name: str) -> Lake:
            if name not in opened:
                folder = tmp_path_factory.mktemp(name) / "lake"
                if name == "embedded":
                    lake = lochan.open(folder)
                else:
                    settings = {"LOCHAN_PIPELINES_ENABLED": "false"}  # tests drive jobs themselves
                    server = closing.enter_context(
                        running_server(folder, workers=1, settings=settings)
                    )
                    lake = lochan.connect(
                        server.url, access_key_id=KEY_ID, secret_access_key=KEY_SECRET
                    )
                opened[name] = closing.enter_context(lake)
            return opened[name]

        yield way


@pytest.fixture(params=["embedded", "http"])
def lake(open_way: Callable[[str], Lake], request: pytest.FixtureRequest) -> Lake:
    return open_way(request.param)


@pytest.fixture
def repository(lake: Lake) -> Repository:
    return lake.repository(f"lake-{next(_numbers)}").create()


@pytest.fixture
def main(repository: Repository) -> Branch:
    return repository.branch("main")


@pytest.fixture
def inside(open_way: Callable[[str], Lake]) -> Branch:
    """A main in this process, for what does not depend on the way."""
    return open_way("embedded").repository(f"lake-{next(_numbers)}").create().branch("main")
