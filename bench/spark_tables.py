# SPDX-License-Identifier: Apache-2.0
"""The metadata table `objects(ref)` beside the same question asked by Python row by row.

One tree, one Spark session (local[2]), the same ranges shared out alike. What differs is who takes
the rows apart: the kernel, into columns; or Python, one entry at a time. The question is the
number of objects and the bytes of each day and content type.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

import lochan
from lakes import link_lake
from lochan.client import Lake
from lochan.model.codec import decode_entry
from lochan.model.ids import RangeId
from lochan.shapes.commits import CommitCreation, CommitQuery
from lochan.spark import tables
from lochan.spark.known_lake import KnownLake
from lochan.spark.reach import Reach, find_reach
from lochan.spark.table_rows import arrow_of, table_schema
from lochan.spark.table_tasks import ObjectsTasks, objects_tasks
from measure import Row, chosen
from spark_ground import FOLDER, medians, session

OBJECTS = chosen(5_000_000, small=20_000)
TIMES = chosen(3, small=1)  # row by row it takes half a minute
LEAST = 3.0
COLUMNS = ("path", "size_bytes", "content_type")


def grow(lake: Lake, folder: Path) -> str:
    """Make a repository of so many objects, and commit them as they are."""
    tree = link_lake(OBJECTS, folder)
    repository = lake.repository("bench").create(f"local://{folder}")
    path = ("repositories", repository.id, "branches", "main", "commits")
    body = CommitCreation(message="many objects")
    lake.transport.send("POST", path, query=CommitQuery(source_metarange=tree), body=body)
    return f"lochan://{repository.id}/main"


def asked(frame: DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """Count and group."""
    folder = f.substring_index("path", "/", 3)
    grouped = frame.groupBy(folder.alias("folder"), "content_type")
    found = grouped.agg(f.count("*").alias("count"), f.sum("size_bytes").alias("bytes")).collect()
    return {(row["folder"], row["content_type"]): (row["count"], row["bytes"]) for row in found}


class ByRow:
    """The same tasks with entries taken apart by Python, one after the other."""

    def __init__(self, tasks: ObjectsTasks) -> None:
        """Read these ranges."""
        self._tasks = tasks

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Give the rows."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self._rows(self._tasks.ranges[number])

    def _rows(self, range_id: RangeId) -> Iterator[pa.RecordBatch]:
        table = self._tasks.reach.snapshots.files.range_once(range_id)
        for first in range(0, table.block_count, 1024):
            rows = [
                (record.key.decode(), entry.size, entry.content_type)
                for record in table.scan(first, min(first + 1024, table.block_count))
                for entry in (decode_entry(record.value),)
            ]
            columns = [list(column) for column in zip(*rows, strict=True)]
            yield pa.RecordBatch.from_arrays(
                [pa.array(column) for column in columns], schema=self._tasks.schema
            )


def by_row(spark: SparkSession, lake: Lake, address: str) -> DataFrame:
    """Give the table made by Python, row by row."""
    whole = table_schema("objects")
    schema = StructType([whole[name] for name in COLUMNS])
    repository = lake.repository("bench")
    reach: Reach = find_reach(KnownLake.of(lake), repository)
    tree = repository.commit(address.rpartition("/")[2]).meta_range_id
    tasks = objects_tasks(reach, tree, "", arrow_of(schema))
    numbers = spark.range(0, len(tasks), 1)
    return numbers.mapInArrow(ByRow(tasks), schema)


def main() -> list[Row]:
    """Ask both ways in turn."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix="tables-", dir=FOLDER) as name,
        lochan.open(Path(name) / "lake") as lake,
        session(lake) as spark,
    ):
        address = grow(lake, Path(name) / "lake" / "objects" / "linked")
        answers: list[object] = []
        ours, theirs = medians(
            lambda: answers.append(asked(tables.objects(spark, address, COLUMNS))),
            lambda: answers.append(asked(by_row(spark, lake, address))),
            times=TIMES,
        )
    assert all(answer == answers[0] for answer in answers), "the two ways differ"
    return [
        Row(
            f"Spark: objects(ref) of {OBJECTS:,} rows, count and group",
            f"{ours:.2f} s, {OBJECTS / ours:,.0f}/s",
            f"row by row in Python {theirs:.2f} s",
            theirs / ours,
            f">= {LEAST:.0f}x",
            theirs / ours >= LEAST,
        )
    ]


if __name__ == "__main__":
    print(msgspec.json.encode(main()).decode())
