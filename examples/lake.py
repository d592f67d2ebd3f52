# SPDX-License-Identifier: Apache-2.0
"""The lake of the examples: SQLite and local files in .cache/demo, one repository in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lochan.bootstrap import open_lake
from lochan.committed import Cuts
from lochan.environment import RealEnvironment
from lochan.errors import RepositoryNotFound
from lochan.model.ids import valid_branch_name, valid_repository_id, valid_storage_namespace
from lochan.model.records import Repository
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.refs.repositories import get_repository

FOLDER = Path(".cache/demo")
NAME = valid_repository_id("weather")
MAIN = valid_branch_name("main")
environment = RealEnvironment()


class Opened(NamedTuple):
    """What every verb is given: the lake, and the repository."""

    lake: Lake
    repository: Repository


@contextmanager
def open_demo() -> Iterator[Opened]:
    """Open the lake in FOLDER; the repository is created where it is absent."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    # A real lake cuts ranges far longer; short ones show in a small lake what is reused.
    cuts = Cuts(raggedness=50)
    with open_lake(f"sqlite://{FOLDER}/kv.db", environment, cuts=cuts) as lake:
        try:
            repository = get_repository(lake.store, environment, NAME)
        except RepositoryNotFound:
            namespace = valid_storage_namespace(f"local://{FOLDER.resolve()}/objects")
            repository = create_repository(lake, NAME, namespace, MAIN, committer="demo")
        yield Opened(lake, repository)
