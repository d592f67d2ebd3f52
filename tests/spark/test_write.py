# SPDX-License-Identifier: Apache-2.0
"""A write is one commit or nothing, in every mode."""

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import lochan.spark
from lochan.client import Branch, Repository
from lochan.errors import AlreadyExists, Refused


@pytest.fixture
def main(repository: Repository) -> Branch:
    return repository.branch("main")


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.range(100).selectExpr("id", "id % 4 AS part", "concat('Köln ', id) AS city")


def count(spark: SparkSession, branch: Branch, path: str = "t") -> int:
    return lochan.spark.read(spark, f"{branch.uri}/{path}").count()


def test_a_write_is_one_commit(spark: SparkSession, main: Branch, frame: DataFrame) -> None:
    before = main.head.id
    commit = lochan.spark.write(frame, f"{main.uri}/t", message="first")

    assert main.head.id == commit
    assert (main.head.message, main.head.parents) == ("first", [before])
    assert count(spark, main) == 100


def test_what_is_linked_lies_below_an_address_that_tells_its_age(
    main: Branch, frame: DataFrame
) -> None:
    lochan.spark.write(frame.coalesce(1), f"{main.uri}/t")
    (only,) = main.objects("t/")

    assert only.path.startswith("t/part-00000-")
    assert only.path.endswith(".snappy.parquet")
    assert only.physical_address.endswith(only.path.removeprefix("t"))


def test_append_keeps_and_overwrite_replaces(
    spark: SparkSession, main: Branch, frame: DataFrame
) -> None:
    lochan.spark.write(frame, f"{main.uri}/t")
    lochan.spark.write(frame, f"{main.uri}/t", "append")
    assert count(spark, main) == 200
    lochan.spark.write(frame.limit(5), f"{main.uri}/t", "overwrite")
    assert count(spark, main) == 5


def test_overwrite_partitions_replaces_those_that_are_written(
    spark: SparkSession, main: Branch, frame: DataFrame
) -> None:
    lochan.spark.write(frame, f"{main.uri}/t", partition_by=["part"])
    some = frame.where("part = 1").limit(3)
    lochan.spark.write(some, f"{main.uri}/t", "overwrite-partitions", partition_by=["part"])

    found = lochan.spark.read(spark, f"{main.uri}/t").groupBy("part").count()
    assert {row.part: row["count"] for row in found.collect()} == {0: 25, 1: 3, 2: 25, 3: 25}


def test_error_refuses_and_ignore_does_nothing(main: Branch, frame: DataFrame) -> None:
    first = lochan.spark.write(frame, f"{main.uri}/t")
    with pytest.raises(AlreadyExists, match="append or overwrite"):
        lochan.spark.write(frame, f"{main.uri}/t")

    assert lochan.spark.write(frame, f"{main.uri}/t", "ignore") == ""
    assert main.head.id == first


def test_names_that_are_no_common_characters_come_back(
    spark: SparkSession, main: Branch, frame: DataFrame
) -> None:
    lochan.spark.write(frame.limit(4), f"{main.uri}/t", partition_by=["city"])
    found = lochan.spark.read(spark, f"{main.uri}/t")

    assert {row.city for row in found.collect()} == {f"Köln {n}" for n in range(4)}


@pytest.mark.parametrize("format_", ["csv", "json", "orc"])
def test_other_formats_are_written(
    spark: SparkSession, main: Branch, frame: DataFrame, format_: str
) -> None:
    lochan.spark.write(frame.select("id"), f"{main.uri}/t", format=format_)

    assert lochan.spark.read(spark, f"{main.uri}/t", format_, "id LONG").count() == 100


def test_rel_V14_a_write_that_fails_leaves_nothing(
    repository: Repository, main: Branch, frame: DataFrame
) -> None:
    before = main.head.id
    with pytest.raises(PySparkException):
        lochan.spark.write(frame.selectExpr("raise_error('no') AS x"), f"{main.uri}/t")

    assert main.head.id == before
    assert [one.id for one in repository.branches(show_hidden=True)] == ["main"]


def test_a_job_is_one_commit(spark: SparkSession, main: Branch, frame: DataFrame) -> None:
    with main.job("nightly") as job:
        lochan.spark.write(frame, job.uri("raw"))
        counted = lochan.spark.read(spark, job.uri("raw")).groupBy("part").count()
        lochan.spark.write(counted, job.uri("counted"))
        assert list(main.objects()) == []

    assert main.head.id == job.commit_id
    assert (count(spark, main, "raw"), count(spark, main, "counted")) == (100, 4)
    assert len(list(main.log())) == 2


def test_rel_V14_a_job_that_fails_leaves_nothing(main: Branch, frame: DataFrame) -> None:
    def fail() -> None:
        with main.job("nightly") as job:
            lochan.spark.write(frame, job.uri("raw"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert list(main.objects()) == []


def test_a_branch_with_uncommitted_changes_refuses_at_once(main: Branch, frame: DataFrame) -> None:
    main.upload("x", b"x")
    with pytest.raises(Refused, match="uncommitted"):
        lochan.spark.write(frame, f"{main.uri}/t")
