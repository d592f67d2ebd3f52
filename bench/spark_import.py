# SPDX-License-Identifier: Apache-2.0
"""An inventory of 5 million objects, imported by Spark on two cores: ranges written and committed.

The inventory is Parquet, in no order, made once under .cache/bench/spark. The yardstick is what
Spark takes to read and sort it and do nothing with it. The session's start does not count, nor does
a first import, which warms up.
"""

import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import lochan
from ground import MAIN
from lake_data import keys
from lochan.bootstrap.lake import open_lake
from lochan.environment import RealEnvironment
from lochan.model.ids import RepositoryId, StorageNamespace
from lochan.operations.create_repository import create_repository
from lochan.operations.import_objects import ImportRequest
from lochan.operations.lake import Lake
from lochan.spark.import_objects import import_frame
from measure import Row, chosen
from spark_ground import FOLDER, session

OBJECTS = chosen(5_000_000, small=20_000)
FILES = 10
TIMES = chosen(3, small=1)
LEAST = 150_000
INVENTORY = FOLDER / f"inventory-{OBJECTS}"


def main() -> list[Row]:
    """Import, and sort, in turn."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    make_inventory()
    with (
        TemporaryDirectory(prefix="imported-", dir=FOLDER) as name,
        lochan.open(Path(name) / "bound") as bound,
        session(bound) as spark,
        open_lake(f"sqlite://{name}/kv.db", RealEnvironment()) as lake,
    ):
        taken: tuple[list[float], list[float]] = ([], [])
        for number in range(TIMES + 1):
            folder = f"{name}/objects{number}"
            taken[0].append(imported(spark, lake, number, folder))
            taken[1].append(ordered(spark))
        ours, sort = (statistics.median(times[1:]) for times in taken)
    rate = OBJECTS / ours
    return [
        Row(
            f"Spark: import of an inventory of {OBJECTS:,} objects",
            f"{rate:,.0f}/s, {ours:.1f} s",
            f"Spark's sort alone {OBJECTS / sort:,.0f}/s; lakeFS documents a few thousand",
            sort / ours,
            f">= {LEAST:,}/s",
            rate >= LEAST,
        )
    ]


def imported(spark: SparkSession, lake: Lake, number: int, folder: str) -> float:
    """Import to a new repository."""
    place = StorageNamespace(f"local://{folder}")
    repository = create_repository(lake, RepositoryId(f"imported{number}"), place, MAIN)
    begun = time.perf_counter()
    made = import_frame(listed(spark), lake, repository, MAIN, ImportRequest("bench"))
    taken = time.perf_counter() - begun
    snapshots = lake.storage(repository.storage_namespace).snapshots
    rows = sum(part.count for part in snapshots.files.metarange(made.meta_range_id))
    assert rows == OBJECTS, "an object is missing"
    return taken


def ordered(spark: SparkSession) -> float:
    """Let Spark sort the inventory by parts, and drop it."""
    begun = time.perf_counter()
    parts = listed(spark).repartitionByRange(4, "key").sortWithinPartitions("key")
    parts.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begun


def listed(spark: SparkSession) -> DataFrame:
    """Read the inventory."""
    return spark.read.parquet(str(INVENTORY))


def make_inventory() -> None:
    """Make the inventory, unless an earlier run has."""
    if INVENTORY.exists():
        return
    numbers = np.random.default_rng(1).permutation(OBJECTS).astype(np.uint64)
    draft = INVENTORY.with_name("draft")
    draft.mkdir()
    for number, some in enumerate(np.array_split(numbers, FILES)):
        column = keys(some)
        buffers = [None, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
        key = pa.Array.from_buffers(pa.large_string(), len(some), buffers).cast(pa.string())
        e_tags = pc.binary_slice(key.cast(pa.binary()), 41, 57).cast(pa.string())
        table = pa.table(
            {
                "key": key,
                "address": pc.binary_join_element_wise("s3://bucket", key, "/"),
                "size": pa.array(some % 9973 + 1000, pa.int64()),
                "e_tag": pc.binary_join_element_wise(e_tags, e_tags, ""),
                "last_modified": pa.array(some * 1000 + 17 * 10**17, pa.int64()),
            }
        )
        pq.write_table(table, draft / f"{number}.parquet")
    draft.rename(INVENTORY)


if __name__ == "__main__":
    print(msgspec.json.encode(main()).decode())
