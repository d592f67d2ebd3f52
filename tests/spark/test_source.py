# SPDX-License-Identifier: Apache-2.0
"""The data source `lochan`: files of a commit as rows, rows as one commit."""

import io
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lochan.client import Lake, Repository


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


def test_an_explicit_schema_prunes_and_fills(spark: SparkSession, repository: Repository) -> None:
    main = repository.branch("main")
    main.upload("t/a.parquet", parquet(n=[1], text=["x"]))
    main.commit("data")

    frame = (
        spark.read.format("lochan")
        .schema("text string, missing long, _path string")
        .load(f"lochan://{repository.id}/main/t")
    )

    assert [tuple(row) for row in frame.collect()] == [("x", None, "t/a.parquet")]


def test_csv_and_lines_of_json_are_read(spark: SparkSession, repository: Repository) -> None:
    main = repository.branch("main")
    main.upload("c/a.csv", b"n,word\n1,one\n2,two\n")
    main.upload("j/a.json", b'{"n": 1, "word": "one"}\n{"n": 2, "word": "two"}\n')
    main.commit("data")

    wanted = [(1, "one"), (2, "two")]
    for folder in ("c", "j"):
        rows = load(spark, repository, f"main/{folder}").orderBy("n").collect()
        assert [(row.n, row.word) for row in rows] == wanted


def test_several_queries_of_one_frame_do_not_share_their_filters(
    spark: SparkSession, repository: Repository
) -> None:
    main = repository.branch("main")
    main.upload("t/day=1/a.parquet", parquet(n=[1, 2, None]))
    main.upload("t/day=3/c.parquet", parquet(n=[2, 3]))
    main.commit("data")

    frame = load(spark, repository, "main/t")
    first, third = frame.where("day = 1 and n >= 2"), frame.where("day = 3")

    assert [tuple(row) for row in first.collect()] == [(2, 1)]
    assert (frame.count(), third.count(), first.union(third).count()) == (5, 2, 3)


def test_a_write_is_one_commit(spark: SparkSession, repository: Repository) -> None:
    frame = spark.range(100).selectExpr("id", "id % 3 as kind").repartition(3)

    writer = frame.write.format("lochan").mode("append").option("partitionBy", "kind")
    writer.option("message", "load").save(f"lochan://{repository.id}/main/t")

    messages = [commit.message for commit in repository.ref("main").log()]
    found = load(spark, repository, "main/t")
    assert messages[0] == "load"
    assert len(messages) == 2
    assert sorted(found.collect()) == sorted(frame.collect())
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]


def test_overwrite_takes_away_what_was_there(spark: SparkSession, repository: Repository) -> None:
    address = f"lochan://{repository.id}/main/t"
    repository.branch("main").upload("t/old.parquet", parquet(id=[7]))
    repository.branch("main").upload("other", b"stays")
    repository.branch("main").commit("old")

    spark.range(3).write.format("lochan").mode("overwrite").save(address)

    assert sorted(row.id for row in load(spark, repository, "main/t").collect()) == [0, 1, 2]
    assert repository.ref("main").object("other").exists()


def test_a_write_that_fails_leaves_nothing(spark: SparkSession, repository: Repository) -> None:
    frame = spark.range(0, 4, 1, 2).selectExpr("id", "assert_true(id < 3) as checked")
    place = Path(repository.properties.storage_namespace.removeprefix("local://"))
    before = {file for file in place.rglob("*") if file.is_file()}

    with pytest.raises(PySparkException):
        frame.write.format("lochan").mode("append").save(f"lochan://{repository.id}/main/t")

    assert len(list(repository.ref("main").log())) == 1
    assert [branch.id for branch in repository.branches(show_hidden=True)] == ["main"]
    assert not {file for file in place.rglob("*.parquet") if file.is_file()} - before


def test_what_is_wrong_is_said_in_one_line(spark: SparkSession, repository: Repository) -> None:
    with pytest.raises(PySparkException, match="there is nothing to read at lochan://"):
        load(spark, repository, "main/nothing")


UNREGISTERED = """
import sys
from pyspark.sql import SparkSession
from lochan.spark.session import tell_processes

tell_processes()
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
print(spark.read.format("lochan").option("lake", sys.argv[1]).load(sys.argv[2]).count())
"""


def test_a_session_of_spark_s_own_finds_the_source_by_itself(
    lake: Lake, repository: Repository
) -> None:
    repository.branch("main").upload("t/a.parquet", parquet(n=[1, 2]))
    repository.branch("main").commit("data")
    command = [sys.executable, "-c", UNREGISTERED, lake.name, f"lochan://{repository.id}/main/t"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stderr[:3000]
    assert ran.stdout.split()[-1] == "2"
