# SPDX-License-Identifier: Apache-2.0
"""Our own fsspec filesystem over HTTP, as `lochan://` addresses in the tools that know fsspec."""

from typing import Any

import duckdb
import fsspec
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from lochan.fs.filesystem import LochanFileSystem
from support.server import Server

TABLE = pd.DataFrame({"a": range(1000), "b": [str(number) for number in range(1000)]})


@pytest.fixture
def options(server: Server) -> dict[str, Any]:
    return {"host": server.url, "username": server.auth[0], "password": server.auth[1]}


@pytest.fixture
def fs(options: dict[str, Any]) -> LochanFileSystem:
    return LochanFileSystem(**options)


def test_files_and_folders(fs: LochanFileSystem, repository: str) -> None:
    root = f"{repository}/main"
    fs.pipe({f"{root}/x/a.txt": b"a", f"{root}/x/deep/b.txt": b"bb"})
    assert fs.ls(f"{root}/x", detail=False) == [f"{root}/x/a.txt", f"{root}/x/deep"]
    assert fs.info(f"{root}/x/deep/b.txt")["size"] == 2
    assert fs.glob(f"{root}/**/*.txt") == [f"{root}/x/a.txt", f"{root}/x/deep/b.txt"]
    fs.mv(f"{root}/x/a.txt", f"{root}/c.txt")
    assert fs.cat(f"{root}/c.txt") == b"a"
    fs.rm(f"{root}/x", recursive=True)
    assert fs.find(root) == [f"{root}/c.txt"]


def test_a_commit_is_the_lake_s_business(fs: LochanFileSystem, repository: str) -> None:
    fs.pipe(f"{repository}/main/a.txt", b"1")
    made = fs.lake.repository(repository).branch("main").commit("first")
    fs.pipe(f"{repository}/main/a.txt", b"2")
    assert fs.cat(f"{repository}/{made.id}/a.txt") == b"1"
    assert fs.cat(f"{repository}/main/a.txt") == b"2"


@pytest.mark.parametrize("scheme", ["lochan", "lochan://127.0.0.1"])
def test_the_address_may_name_the_server(server: Server, repository: str, scheme: str) -> None:
    key = {"username": server.auth[0], "password": server.auth[1]}
    if scheme == "lochan":
        url, key = f"lochan://{repository}/main/t.txt", {**key, "host": server.url}
    else:
        url = f"lochan://{server.url.removeprefix('http://')}/{repository}/main/t.txt"
    with fsspec.open(url, "w", **key) as file:
        file.write("é\n")
    with fsspec.open(url, "r", **key) as file:
        assert file.read() == "é\n"


def test_pandas(options: dict[str, Any], repository: str) -> None:
    url = f"lochan://{repository}/main/t"
    TABLE.to_parquet(f"{url}.parquet", storage_options=options)
    TABLE.to_csv(f"{url}.csv.gz", storage_options=options, index=False)
    assert pd.read_parquet(f"{url}.parquet", storage_options=options).equals(TABLE)
    read = pd.read_csv(f"{url}.csv.gz", storage_options=options, dtype={"b": "str"})
    assert read.equals(TABLE)


def test_pyarrow(fs: LochanFileSystem, repository: str) -> None:
    for year in (2023, 2024):
        path = f"{repository}/main/years/year={year}/t.parquet"
        with fs.open(path, "wb") as file:
            TABLE.to_parquet(file)
    table = pq.read_table(f"{repository}/main/years/year=2023/t.parquet", filesystem=fs)
    assert table.num_rows == 1000
    found = ds.dataset(f"{repository}/main/years", filesystem=fs, partitioning="hive")
    assert found.to_table(filter=ds.field("year") == 2024).num_rows == 1000


def test_polars(options: dict[str, Any], repository: str) -> None:
    url = f"lochan://{repository}/main/t.parquet"
    with fsspec.open(url, "wb", **options) as file:
        pl.DataFrame({"a": range(1000)}).write_parquet(file)
    with fsspec.open(url, "rb", **options) as file:
        assert pl.read_parquet(file)["a"].sum() == 499500


def test_duckdb_reads_and_writes(fs: LochanFileSystem, repository: str) -> None:
    root = f"lochan://{repository}/main"
    with duckdb.connect() as database:
        database.register_filesystem(fs)
        database.sql(f"copy (select range as a from range(1000)) to '{root}/t.parquet'")
        found = database.sql(f"select count(*), sum(a) from read_parquet('{root}/*.parquet')")
        assert found.fetchall() == [(1000, 499500)]
