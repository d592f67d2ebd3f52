# SPDX-License-Identifier: Apache-2.0
"""The metadata table `objects(ref)` beside the same question asked by Python row by row.

    python bench/spark_tables.py [rows]          5,000,000 unless told

One tree, one Spark session (local[2]), the same tasks of one range each. What differs is who takes
the rows apart: the kernel, into columns; or Python, one entry at a time. The question is the
number of objects and the bytes of each content type and folder.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

import lochan
import lochan.spark
from lochan.client import Lake
from lochan.committed import Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.kernel.records import Records
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import MetaRangeId, RangeId
from lochan.model.instant import Instant, from_seconds
from lochan.objects.open import open_objects
from lochan.shapes.commits import CommitCreation, CommitQuery
from lochan.spark import tables
from lochan.spark.known_lake import KnownLake
from lochan.spark.reach import Reach, find_reach
from lochan.spark.table_rows import arrow_of, table_schema
from lochan.spark.table_tasks import ObjectsTasks, objects_tasks

ROUNDS = 3
CHUNK = 50_000
COLUMNS = ("path", "size_bytes", "content_type")
TYPES = ("text/csv", "application/json", "application/octet-stream")


def grow(lake: Lake, rows: int) -> str:
    """Make a tree of so many objects, and commit it as it is."""
    repository = lake.repository("bench").create()
    namespace = repository.properties.storage_namespace
    environment = RealEnvironment()
    with (
        closing(open_objects(namespace, environment)) as objects,
        Snapshots(Files(objects, environment), environment) as snapshots,
    ):
        tree = snapshots.apply(MetaRangeId(""), _chunks(rows)).id
    path = ("repositories", repository.id, "branches", "main", "commits")
    body = CommitCreation(message="many objects")
    lake.transport.send("POST", path, query=CommitQuery(source_metarange=tree), body=body)
    return f"lochan://{repository.id}/main"


def _chunks(rows: int) -> Iterator[Records]:
    now = from_seconds(1.7e9)
    for first in range(0, rows, CHUNK):
        yield Records.of(_row(number, now) for number in range(first, min(first + CHUNK, rows)))


def _row(number: int, now: Instant) -> tuple[bytes, bytes, bytes]:
    entry = Entry(
        address=f"data/gk3b0g1ol74pr2h6q6fg/{number:024x}.parquet",
        last_modified=now,
        size=1000 + number % 9973,
        e_tag=f"{number:032x}",
        content_type=TYPES[number % 3],
    )
    key = (
        f"warehouse/table{number // 1_000_000}/day={number // 10_000:05}/part-{number:010}.parquet"
    )
    return key.encode(), identity(entry), encode_entry(entry)


def asked(frame: DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """Count and group."""
    folder = f.split(f.col("path"), "/").getItem(1)
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
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    return numbers.mapInArrow(ByRow(tasks), schema)


def timed(what: Callable[[], object]) -> tuple[float, object]:
    """Take the time of a question."""
    start = time.perf_counter()
    answer = what()
    return time.perf_counter() - start, answer


def main() -> None:
    """Measure, and print a line for each way."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    with TemporaryDirectory() as folder, lochan.open(Path(folder) / "lake") as lake:
        address = grow(lake, rows)
        spark = lochan.spark.session(
            lake, {"spark.ui.enabled": False, "spark.driver.memory": "1g"}, master="local[2]"
        )
        ways = {
            "kernel, columns": lambda: asked(tables.objects(spark, address, COLUMNS)),
            "Python, rows": lambda: asked(by_row(spark, lake, address)),
        }
        best: dict[str, float] = {}
        answers = []
        for _ in range(ROUNDS):
            for name, way in ways.items():
                seconds, answer = timed(way)
                best[name] = min(seconds, best.get(name, seconds))
                answers.append(answer)
        if any(answer != answers[0] for answer in answers):
            raise SystemExit("the two ways differ")
        for name, seconds in best.items():
            print(f"objects(ref), {rows:,} rows, {name}: {seconds:.2f} s, {rows / seconds:,.0f}/s")
        print(f"ratio: {best['Python, rows'] / best['kernel, columns']:.2f}x")
        spark.stop()


if __name__ == "__main__":
    main()
