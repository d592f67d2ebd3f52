# SPDX-License-Identifier: Apache-2.0
"""The data source `lochan`: files of a commit as rows, rows as one commit."""

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lochan.client import Repository


def parquet(**columns: list[object]) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


def load(spark: SparkSession, repository: Repository, path: str, **options: str) -> DataFrame:
    address = f"lochan://{repository.id}/{path}"
    return spark.read.format("lochan").options(**options).load(address)


def test_parquet_is_read_with_the_columns_that_paths_tell(
    spark: SparkSession, repository: Repository
) -> None:
    main = repository.branch("main")
    main.upload("events/day=1/a.parquet", parquet(n=[1, 2]))
    main.upload("events/day=2/b.parquet", parquet(n=[3]))
    main.upload("events/_SUCCESS", b"")
    main.commit("data")

    rows = load(spark, repository, "main/events").orderBy("n").collect()

    assert [(row.n, row.day) for row in rows] == [(1, 1), (2, 1), (3, 2)]


def test_a_read_shows_one_commit_whatever_comes_later(
    spark: SparkSession, repository: Repository
) -> None:
    main = repository.branch("main")
    main.upload("t/a.parquet", parquet(n=[1]))
    first = main.commit("one")
    main.upload("t/b.parquet", parquet(n=[2]))
    main.commit("two")
    main.upload("t/c.parquet", parquet(n=[3]))  # staged: no commit shows it

    assert load(spark, repository, f"{first.id}/t").count() == 1
    assert load(spark, repository, "main/t").count() == 2
