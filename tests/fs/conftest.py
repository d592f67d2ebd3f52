# SPDX-License-Identifier: Apache-2.0
"""A lake in a folder with one repository, and the filesystem over it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import lochan
from lochan.client import Lake
from lochan.fs.filesystem import LochanFileSystem


@pytest.fixture(scope="session")
def opened_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with lochan.open(tmp_path_factory.mktemp("fs") / "lake") as lake:
        yield lake


@pytest.fixture
def lake(opened_lake: Lake, request: pytest.FixtureRequest) -> Lake:
    """A lake whose repository `fs-lake` has an empty main."""
    repository = opened_lake.repository("fs-lake").create(exist_ok=True)
    main = repository.branch("main")
    main.reset_changes()
    main.reset_to(list(main.log())[-1])
    return opened_lake


@pytest.fixture
def fs(lake: Lake) -> LochanFileSystem:
    return LochanFileSystem(lake=lake, skip_instance_cache=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
