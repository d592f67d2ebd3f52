# SPDX-License-Identifier: Apache-2.0
"""Import and marks by tasks of Spark are those of one process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lochan.bootstrap.lake import open_lake
from lochan.committed import Cuts
from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, NotFound
from lochan.kernel.records import Record
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.instant import Instant
from lochan.model.records import Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.create_repository import create_repository
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.spark.gc import spark_marks
from lochan.spark.import_objects import import_frame

MAIN = BranchName("main")
REQUEST = ImportRequest("me")
SCHEMA = "key string, address string, size long, e_tag string, last_modified long"
Where = tuple[Lake, Repository]


@pytest.fixture
def where(tmp_path: Path) -> Iterator[Where]:
    cuts = Cuts(raggedness=20, cap_bytes=2_000)
    with open_lake(f"sqlite://{tmp_path}/kv.db", RealEnvironment(), cuts=cuts) as lake:
        place = StorageNamespace(f"local://{tmp_path}/objects/r1")
        yield lake, create_repository(lake, RepositoryId("r1"), place, MAIN)


def rows(count: int) -> list[tuple[str, str, int, str, int]]:
    names = [f"p{number * 7919 % count:06d}/é.csv" for number in range(count)]
    return [
        (name, f"s3://b/{name}", number, f"e{number}", 1_700_000_000_000_000_000 + number)
        for number, name in enumerate(names)
    ]


def test_rel_D4_a_frame_gives_the_tree_of_a_list(spark: SparkSession, where: Where) -> None:
    lake, repository = where
    listed = rows(2_000)
    frame = spark.createDataFrame(listed, SCHEMA)
    made = import_frame(frame, *where, MAIN, REQUEST, destination="lake", parts=5)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    found = [row for row in snapshots.list(made.meta_range_id) if isinstance(row, Record)]
    assert len(found) == 2_000
    objects = (
        ListedObject(f"lake/{key}".encode(), address, size, e_tag, Instant(time))
        for key, address, size, e_tag, time in listed
    )
    with pytest.raises(InvalidInput, match="holds all of it already"):
        import_objects(*where, MAIN, objects, REQUEST)
    assert snapshots.verify(made.meta_range_id) == 2_000


def test_an_empty_or_strange_frame_is_refused(spark: SparkSession, where: Where) -> None:
    with pytest.raises(NotFound, match="empty"):
        import_frame(spark.createDataFrame([], SCHEMA), *where, MAIN, REQUEST)
    with pytest.raises(InvalidInput, match="no column 'key'"):
        import_frame(spark.range(3).toDF("id"), *where, MAIN, REQUEST)


def test_marks_of_tasks_keep_what_is_alive(spark: SparkSession, where: Where) -> None:
    lake, repository = where
    for body in (b"first", b"second"):
        put_object(lake, repository, MAIN, ObjectKey(b"k"), body)
    commit(lake, repository, MAIN, CommitRequest("me", "second"))
    import_frame(
        spark.createDataFrame(rows(200), SCHEMA), *where, MAIN, REQUEST, destination="lake"
    )
    how = Collection(grace_s=0, read=spark_marks(spark, lake, repository))
    assert collect(lake, repository, how).moved == 1
