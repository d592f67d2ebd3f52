# SPDX-License-Identifier: Apache-2.0
"""What lochan.spark.read shows is what plain Spark shows of the same files."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import lochan.spark
from lochan.client import Branch, Repository
from lochan.errors import NotFound
from lochan.spark import file_index


@pytest.fixture(scope="module")
def plain(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain folder of Parquet in hive layout: 600 rows, 6 partitions."""
    folder = tmp_path_factory.mktemp("plain") / "events"
    frame = spark.range(600).selectExpr(
        "id", "id * 1.5 AS price", "2023 + id % 2 AS year", "CAST(id % 3 AS STRING) AS city"
    )
    frame.repartition(2).write.partitionBy("year", "city").parquet(str(folder))
    return folder


def upload(branch: Branch, folder: Path, path: str) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            branch.object(f"{path}/{file.relative_to(folder)}").upload(file)


@pytest.fixture
def main(repository: Repository, plain: Path) -> Branch:
    branch = repository.branch("main")
    upload(branch, plain, "events")
    branch.commit("events")
    return branch


def rows(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_rows_types_and_partitions_are_those_of_plain_spark(
    spark: SparkSession, main: Branch, plain: Path
) -> None:
    found, expected = (
        lochan.spark.read(spark, f"{main.uri}/events"),
        spark.read.parquet(str(plain)),
    )

    assert found.schema == expected.schema
    assert rows(found) == rows(expected)


def test_partitions_columns_and_filters_are_pruned_by_spark(
    spark: SparkSession, main: Branch
) -> None:
    found = lochan.spark.read(spark, f"{main.uri}/events").where("year = 2024 AND id > 500")
    plan = found.select("id")._jdf.queryExecution().executedPlan().toString()

    assert found.count() == 50
    assert "PartitionFilters: [isnotnull(year" in plan
    assert "GreaterThan(id,500)" in plan
    assert "ReadSchema: struct<id:bigint>" in plan


def test_partitions_are_pruned_while_a_join_runs(spark: SparkSession, main: Branch) -> None:
    events = lochan.spark.read(spark, f"{main.uri}/events")
    years = spark.createDataFrame([(2024, "new"), (2023, "old")], ["year", "name"])
    joined = events.join(years.where("name = 'new'"), "year")

    assert joined.count() == 300
    assert "dynamicpruning" in joined._jdf.queryExecution().executedPlan().toString()


def test_a_read_stays_at_the_commit_it_began_at(spark: SparkSession, main: Branch) -> None:
    found = lochan.spark.read(spark, f"{main.uri}/events")
    main.delete_objects([one.path for one in main.objects("events/year=2023")])
    main.commit("less")

    assert found.count() == 600
    assert lochan.spark.read(spark, f"{main.uri}/events").count() == 300
    assert lochan.spark.read(spark, f"{main.uri}~1/events").count() == 600


def test_what_is_staged_is_read_only_when_asked_for(spark: SparkSession, main: Branch) -> None:
    main.delete_objects([one.path for one in main.objects("events/year=2023")])

    assert lochan.spark.read(spark, f"{main.uri}/events").count() == 600
    assert lochan.spark.read(spark, f"{main.uri}/events", staged=True).count() == 300


def test_a_schema_and_a_base_path_are_taken(spark: SparkSession, main: Branch) -> None:
    schema = "id LONG, year STRING, city INT"
    found = lochan.spark.read(spark, f"{main.uri}/events", schema=schema)
    below = lochan.spark.read(spark, f"{main.uri}/events/year=2024")
    based = lochan.spark.read(spark, f"{main.uri}/events/year=2024", basePath=f"{main.uri}/events")

    assert dict(found.dtypes) == {"id": "bigint", "year": "string", "city": "int"}
    assert "year" not in below.columns
    assert {row.year for row in based.select("year").distinct().collect()} == {2024}


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.csv.bz2"])
def test_packed_text_is_unpacked(
    spark: SparkSession, repository: Repository, tmp_path: Path, name: str
) -> None:
    codec = {"gz": "gzip", "bz2": "bzip2"}.get(name.rpartition(".")[2], "none")
    frame = spark.createDataFrame([(1, "a"), (2, "b")], ["n", "t"]).coalesce(1)
    frame.write.csv(str(tmp_path / "out"), header=True, compression=codec)
    branch = repository.branch("main")
    branch.object(f"in/{name}").upload(next((tmp_path / "out").glob("part-*")))
    branch.commit("text")

    found = lochan.spark.read(spark, f"{branch.uri}/in", "csv", header=True, inferSchema=True)

    assert rows(found) == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("format_", ["json", "orc", "text", "binaryFile"])
def test_other_formats_are_read(
    spark: SparkSession, repository: Repository, tmp_path: Path, format_: str
) -> None:
    written = "text" if format_ == "binaryFile" else format_
    frame = spark.createDataFrame([("a",), ("b",)], ["value"]).coalesce(1)
    frame.write.format(written).save(str(tmp_path / "out"))
    upload(repository.branch("main"), tmp_path / "out", "in/day=4")
    repository.branch("main").commit(format_)

    found = lochan.spark.read(spark, f"{repository.branch('main').uri}/in", format_)

    assert found.count() == (1 if format_ == "binaryFile" else 2)
    assert {row.day for row in found.select("day").collect()} == {4}


def test_one_object_is_read_by_its_path(spark: SparkSession, main: Branch) -> None:
    first = next(one for one in main.objects("events/") if one.path.endswith(".parquet"))

    assert 0 < lochan.spark.read(spark, f"{main.uri}/{first.path}").count() < 600


def test_a_file_of_several_blocks_is_read(spark: SparkSession, repository: Repository) -> None:
    pfs = repository.pfs
    started = pfs.start_commit("main").id
    for text in ("a\n", "b\n"):
        pfs.put_file(started, "log.txt", text.encode())
    pfs.finish_commit(started)

    found = lochan.spark.read(spark, f"lochan://{repository.id}/main/log.txt", "text")

    assert rows(found) == [("a",), ("b",)]


def test_nothing_at_a_path_is_said(spark: SparkSession, main: Branch) -> None:
    with pytest.raises(NotFound, match="nothing to read"):
        lochan.spark.read(spark, f"{main.uri}/absent")


def test_another_spark_gives_the_same_by_paths(
    spark: SparkSession, main: Branch, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_index, "SUPPORTED", frozenset({"3.9"}))
    expected = spark.read.parquet(str(plain))
    with pytest.warns(RuntimeWarning, match="is none of"):
        found = lochan.spark.read(spark, f"{main.uri}/events")

    assert dict(found.dtypes) == dict(expected.dtypes)
    assert rows(found.select(expected.columns)) == rows(expected)
