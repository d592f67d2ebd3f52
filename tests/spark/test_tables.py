# SPDX-License-Identifier: Apache-2.0
"""Metadata tables say what the lake's own verbs say."""

import pytest
from pyspark.sql import SparkSession

from lochan.client import Lake, Repository
from lochan.errors import InvalidInput
from lochan.spark import tables

ROWS = 200


@pytest.fixture(scope="module")
def grown(lake: Lake) -> Repository:
    """A repository with two commits that differ in a few objects."""
    repository = lake.repository("grown").create()
    main = repository.branch("main")
    for number in range(ROWS):
        metadata = {"number": str(number)} if number % 100 == 0 else {}
        main.upload(f"d{number % 3}/{number:04}", b"x" * number, metadata=metadata)
    main.commit("first", {"kind": "test"})
    repository.tag("v1").create("main")
    main.upload("d0/0000", b"changed")
    main.upload("d9/new", b"added")
    main.delete_objects(["d1/0001"])
    main.commit("second")
    return repository


def test_objects_are_those_of_the_ref(spark: SparkSession, grown: Repository) -> None:
    rows = tables.objects(spark, f"lochan://{grown.id}/v1").collect()

    listed = {stats.path: stats for stats in grown.ref("v1").objects()}
    assert len(rows) == ROWS
    for row in rows:
        stats = listed[row.path]
        assert (row.size_bytes, row.checksum, row.content_type, row.physical_address) == (
            stats.size_bytes,
            stats.checksum,
            stats.content_type,
            stats.physical_address,
        )
        assert int(row.mtime.timestamp()) == stats.mtime
        assert row.metadata == (stats.metadata or {})


def test_objects_below_a_prefix_with_few_columns(spark: SparkSession, grown: Repository) -> None:
    frame = tables.objects(spark, f"lochan://{grown.id}/main/d2/", ["path", "size_bytes"])

    wanted = [(one.path, one.size_bytes) for one in grown.ref("main").objects("d2/")]
    assert sorted(map(tuple, frame.collect())) == wanted


def test_a_diff_is_that_of_the_lake(spark: SparkSession, grown: Repository) -> None:
    left, right = f"lochan://{grown.id}/v1", f"lochan://{grown.id}/main"

    rows = sorted(tables.diff(spark, left, right).collect(), key=lambda row: row.path)

    told = [(one.type, one.path) for one in grown.ref("v1").diff("main", type_="two_dot")]
    assert [(row.type, row.path) for row in rows] == told
    assert [(row.left_size_bytes, row.size_bytes) for row in rows] == [(0, 7), (1, None), (None, 5)]
    assert tables.diff(spark, right, right).count() == 0


def test_commits_branches_and_history(spark: SparkSession, grown: Repository) -> None:
    address = f"lochan://{grown.id}"

    commits = tables.commits(spark, f"{address}/main").collect()
    history = tables.history(spark, f"{address}/main/d1/0001").collect()

    log = list(grown.ref("main").log())
    assert [row.commit_id for row in commits] == [commit.id for commit in log]
    assert commits[1].metadata == {"kind": "test"}
    assert {row.commit_id for row in tables.commits(spark, address).collect()} == {
        row.commit_id for row in commits
    }
    assert [tuple(row) for row in tables.branches(spark, address).collect()] == [
        ("main", log[0].id)
    ]
    assert [(row.message, row.type) for row in history] == [
        ("second", "removed"),
        ("first", "added"),
    ]


def test_tables_are_read_by_the_data_source_too(spark: SparkSession, grown: Repository) -> None:
    source = spark.read.format("lochan")
    address = f"lochan://{grown.id}/main"

    objects = source.option("table", "objects").schema("size_bytes long").load(address)
    diff = source.option("table", "diff").option("left", "v1").schema("type string").load(address)

    assert objects.count() == ROWS
    assert sorted(row.type for row in diff.collect()) == ["added", "changed", "removed"]


def test_a_table_or_column_that_is_not_is_refused(spark: SparkSession, grown: Repository) -> None:
    with pytest.raises(InvalidInput, match="not the same place"):
        tables.diff(spark, f"lochan://{grown.id}/v1", f"lochan://other/{grown.id}")
    with pytest.raises(InvalidInput, match="names no object"):
        tables.history(spark, f"lochan://{grown.id}/main")
