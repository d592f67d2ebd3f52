# SPDX-License-Identifier: Apache-2.0
"""lakefs-spec, unchanged: lakeFS as an fsspec filesystem, and what reads and writes through it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import fsspec
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from lakefs_spec import LakeFSFileSystem
from pyarrow.fs import FSSpecHandler, PyFileSystem

from support.server import Server

TABLE = pd.DataFrame({"a": range(1000), "b": [str(number) for number in range(1000)]})


@pytest.fixture
def options(server: Server) -> dict[str, Any]:
    return {"host": server.url, "username": server.auth[0], "password": server.auth[1]}


@pytest.fixture
def fs(options: dict[str, Any]) -> Iterator[LakeFSFileSystem]:
    filesystem = LakeFSFileSystem(**options, skip_instance_cache=True, use_listings_cache=False)
    yield filesystem
    filesystem.client.sdk_client._api.rest_client.pool_manager.clear()


def test_files_are_put_listed_found_and_removed(
    fs: LakeFSFileSystem, repository: str, tmp_path: Path
) -> None:
    root = f"{repository}/main"
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    fs.put_file(str(tmp_path / "a.txt"), f"{root}/x/a.txt")
    fs.put(str(tmp_path / "b.txt"), f"{root}/x/deep/b.txt")
    assert sorted(fs.ls(f"{root}/x/", detail=False)) == [f"{root}/x/a.txt", f"{root}/x/deep/"]
    info = fs.info(f"{root}/x/a.txt")
    assert (info["type"], info["size"]) == ("file", 5)
    assert sorted(fs.glob(f"{root}/**/*.txt")) == [f"{root}/x/a.txt", f"{root}/x/deep/b.txt"]
    assert (fs.exists(f"{root}/x/a.txt"), fs.exists(f"{root}/no")) == (True, False)
    fs.get_file(f"{root}/x/deep/b.txt", str(tmp_path / "back.txt"))
    assert (tmp_path / "back.txt").read_text() == "b.txt"
    assert fs.checksum(f"{root}/x/a.txt")
    fs.cp_file(f"{root}/x/a.txt", f"{root}/y.txt")
    assert (fs.cat(f"{root}/y.txt"), fs.tail(f"{root}/y.txt", 3)) == (b"a.txt", b"txt")
    fs.rm(f"{root}/x/", recursive=True)
    assert fs.ls(f"{root}/", detail=False) == [f"{root}/y.txt"]


def test_a_transaction_is_one_merge(fs: LakeFSFileSystem, repository: str) -> None:
    with fs.transaction(repository, "main") as tx:
        fs.pipe(f"{repository}/{tx.branch.id}/a.txt", b"a")
        assert not fs.exists(f"{repository}/main/a.txt")
        tx.commit("from a transaction")
        tx.tag(tx.branch, "v1")
    assert fs.cat(f"{repository}/main/a.txt") == b"a"
    assert fs.cat(f"{repository}/v1/a.txt") == b"a"


def test_text_is_written_and_read_through_fsspec(options: dict[str, Any], repository: str) -> None:
    url = f"lakefs://{repository}/main/t.txt"
    with fsspec.open(url, "w", **options) as file:
        file.write("é\n" * 3)
    with fsspec.open(url, "r", **options) as file:
        assert file.read() == "é\n" * 3


def test_pandas(options: dict[str, Any], repository: str) -> None:
    url = f"lakefs://{repository}/main/t"
    TABLE.to_parquet(f"{url}.parquet", storage_options=options)
    TABLE.to_csv(f"{url}.csv", storage_options=options, index=False)
    assert pd.read_parquet(f"{url}.parquet", storage_options=options).equals(TABLE)
    read = pd.read_csv(f"{url}.csv", storage_options=options, dtype={"b": "str"})
    assert read.equals(TABLE)


def test_polars_pyarrow_and_duckdb(
    fs: LakeFSFileSystem, options: dict[str, Any], repository: str
) -> None:
    path = f"{repository}/main/t.parquet"
    with fs.open(path, "wb") as file:
        pl.from_dict({"a": list(range(1000))}).write_parquet(file)
    with fs.open(path, "rb") as file:
        assert pl.read_parquet(file)["a"].sum() == 499500
    assert pq.read_table(path, filesystem=PyFileSystem(FSSpecHandler(fs))).num_rows == 1000
    with duckdb.connect() as database:
        database.register_filesystem(fs)
        found = database.sql(f"select count(*), sum(a) from read_parquet('lakefs://{path}')")
        assert found.fetchall() == [(1000, 499500)]
