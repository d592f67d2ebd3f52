# SPDX-License-Identifier: Apache-2.0
"""pandas, polars, Arrow and DuckDB read and write through the filesystem."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow.fs import FSSpecHandler, PyFileSystem

import lochan
from lochan.fs.filesystem import LochanFileSystem

ROOT = "lochan://frames/main"
ROWS = {"city": ["Oslo", "Ålesund", "Bergen"], "people": [700, 50, 280]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("frames") / "lake"
    with lochan.open(place) as lake:
        lake.repository("frames").create()
    return place


@pytest.fixture
def options(folder: Path) -> Iterator[dict[str, Any]]:
    yield {"lake": str(folder)}
    LochanFileSystem(lake=str(folder)).lake.close()
    LochanFileSystem.clear_instance_cache()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_pandas_reads_and_writes(options: dict[str, Any], kind: str) -> None:
    frame = pd.DataFrame(ROWS)
    path = f"{ROOT}/pandas/rows.{kind}"
    write = frame.to_parquet if kind == "parquet" else frame.to_csv
    write(path, index=False, storage_options=options)
    read = pd.read_parquet if kind == "parquet" else pd.read_csv

    assert read(path, storage_options=options).to_dict("list") == ROWS


def test_pandas_reads_a_commit_while_the_branch_goes_on(options: dict[str, Any]) -> None:
    branch = LochanFileSystem(**options).lake.repository("frames").branch("main")
    pd.DataFrame(ROWS).to_parquet(f"{ROOT}/then.parquet", storage_options=options)
    commit = branch.commit("then")
    pd.DataFrame(ROWS).head(1).to_parquet(f"{ROOT}/then.parquet", storage_options=options)

    then = pd.read_parquet(f"lochan://frames/{commit.id}/then.parquet", storage_options=options)
    assert (len(then), len(pd.read_parquet(f"{ROOT}/then.parquet", storage_options=options))) == (
        3,
        1,
    )


def test_polars_reads_and_writes(options: dict[str, Any]) -> None:
    fs = LochanFileSystem(**options)
    with fs.open(f"{ROOT}/polars/rows.parquet", "wb") as file:
        pl.DataFrame(ROWS).write_parquet(file)
    with fs.open(f"{ROOT}/polars/rows.parquet", "rb") as file:
        assert pl.read_parquet(file).to_dict(as_series=False) == ROWS
    with fs.open(f"{ROOT}/polars/rows.csv", "wb") as file:
        pl.DataFrame(ROWS).write_csv(file)

    with fs.open(f"{ROOT}/polars/rows.csv", "rb") as file:
        assert pl.read_csv(file).to_dict(as_series=False) == ROWS
    arrow = PyFileSystem(FSSpecHandler(fs))
    dataset = ds.dataset("frames/main/polars/rows.parquet", filesystem=arrow)
    assert pl.scan_pyarrow_dataset(dataset).select(pl.sum("people")).collect().item() == 1030


def test_arrow_writes_a_dataset_and_prunes_it(options: dict[str, Any]) -> None:
    arrow = PyFileSystem(FSSpecHandler(LochanFileSystem(**options)))
    table = pa.table({"day": [1, 1, 2], "x": [10, 20, 30]})
    pq.write_to_dataset(table, "frames/main/ds", partition_cols=["day"], filesystem=arrow)
    dataset = ds.dataset("frames/main/ds", filesystem=arrow, partitioning="hive")

    assert dataset.to_table(filter=ds.field("day") == 2).to_pydict() == {"x": [30], "day": [2]}
    assert sorted(dataset.to_table()["x"].to_pylist()) == [10, 20, 30]


def test_duckdb_reads_globs_and_writes(options: dict[str, Any]) -> None:
    with duckdb.connect() as duck:
        duck.register_filesystem(LochanFileSystem(**options))
        for day in (1, 2):
            duck.execute(
                f"copy (select {day} as day, unnest(range(1000)) as x)"
                f" to '{ROOT}/duck/day={day}/rows.parquet' (format parquet)"
            )
        found = duck.execute(
            f"select day, count(*), sum(x) from read_parquet('{ROOT}/duck/*/*.parquet')"
            " group by day order by day"
        ).fetchall()

    assert found == [(1, 1000, 499500), (2, 1000, 499500)]
