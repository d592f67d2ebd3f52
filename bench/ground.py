# SPDX-License-Identifier: Apache-2.0
"""A whole lake for one measurement: a KV store, local objects, one repository; gone at the end.

It lies under .cache/bench and not where temporary files go, since those may be in memory, where
fsync costs nothing.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lake_data import records
from lakes import FOLDER
from lochan.bootstrap.lake import open_lake, prepare_process
from lochan.environment import RealEnvironment
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, CommitId, RepositoryId, StorageNamespace
from lochan.model.records import Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.refs.creation import create_repository

MAIN = BranchName("main")
_CHUNK_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Ground:
    """What is measured on. `kv` is the address by which other processes open the same store."""

    lake: Lake
    repository: Repository
    folder: Path
    kv: str

    @property
    def head(self) -> CommitId:
        """The commit that main shows now."""
        return self.lake.branches.fresh(self.repository, MAIN).record.commit_id


@contextmanager
def new_ground(kv: str = "") -> Iterator[Ground]:
    """Make a lake with an empty repository; without `kv` its store is SQLite, with fsync."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    prepare_process()  # as a server does
    environment = RealEnvironment()
    with TemporaryDirectory(prefix="ground-", dir=FOLDER) as name:
        address = kv or f"sqlite://{name}/kv.db"
        with open_lake(address, environment) as lake:
            namespace = StorageNamespace(f"local://{name}/objects")
            made = create_repository(
                lake.store, environment, RepositoryId(environment.new_id()), namespace, MAIN
            )
            yield Ground(lake, made, Path(name), address)


def stage_objects(
    ground: Ground, count: int, *, branch: BranchName = MAIN, version: int = 0
) -> None:
    """Stage made-up objects in bulk, as an import would."""
    for start in range(0, count, _CHUNK_ROWS):
        stage_rows(ground, records(start, min(start + _CHUNK_ROWS, count), version=version), branch)


def stage_rows(ground: Ground, rows: Iterable[Record], branch: BranchName = MAIN) -> None:
    """Stage rows under the token of a branch that nobody else uses now."""
    token = ground.lake.branches.fresh(ground.repository, branch).record.staging_token
    ground.lake.staging.set_many(token, (StagedEntry(*row) for row in rows))
