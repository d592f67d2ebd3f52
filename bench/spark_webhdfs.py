# SPDX-License-Identifier: Apache-2.0
"""Stock Spark on lochan://host:port/... beside the same on the disk: all bytes go through WebHDFS.

    python bench/spark_webhdfs.py [words]      rows that have one of the words; all unless told

Server and Spark share the two cores; bytes have an address of their own (`webhdfs.listen`). What is
read is pinned to a commit. What the server has written is on the disk when it says so (fsync); what
plain Spark has written is not.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from pyspark.sql import DataFrame, SparkSession

import lochan
from lochan.client import Lake
from measure import Row, chosen, is_wanted
from spark_ground import (
    EVENTS,
    FILES,
    FOLDER,
    MANY,
    at_least,
    import_files,
    make_files,
    medians,
    row,
    session,
)

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.ports import free_port
from support.server import KEY_ID, KEY_SECRET, running_server

LEAST_SCAN, LEAST_COLUMNS, LEAST_WRITE = 0.75, 0.6, 0.85
TIMES_MANY = chosen(1, small=1)  # each takes half a minute


def main() -> list[Row]:
    """Measure all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix="served-", dir=FOLDER) as folder,
        running_server(
            Path(folder) / "lake",
            settings={
                "LOCHAN_BLOCKSTORE_READABLE_FOLDERS": str(FOLDER),
                "LOCHAN_WEBHDFS_LISTEN": f"127.0.0.1:{free_port()}",
            },
        ) as server,
        lochan.connect(server.url, access_key_id=KEY_ID, secret_access_key=KEY_SECRET) as lake,
        session(lake) as spark,
    ):
        make_files(spark)
        return [*reads(spark, lake), *writes(spark, lake)]


def reads(spark: SparkSession, lake: Lake) -> Iterator[Row]:
    """Scan, aggregate; plan and read many small files."""
    branch = lake.repository("bench").create().branch("main")
    import_files(branch)
    top = f"lochan://{lake.name.partition('://')[2]}/bench/{branch.get_commit().id}"
    works: dict[str, tuple[float, Callable[[DataFrame], object]]] = {
        "full scan": (
            LEAST_SCAN,
            lambda frame: frame.write.format("noop").mode("overwrite").save(),
        ),
        "two columns": (LEAST_COLUMNS, lambda frame: frame.groupBy("shop").avg("price").collect()),
    }
    plain, ours = spark.read.parquet(str(EVENTS)), spark.read.parquet(f"{top}/events")
    for what, (least, work) in works.items():
        name = f"WebHDFS: {what}"
        if is_wanted(name):
            yield at_least(name, medians(partial(work, ours), partial(work, plain)), least)
    many, there = str(FILES), f"{top}/many"

    def summed(address: str) -> object:
        return spark.read.schema("id LONG").parquet(address).agg({"id": "sum"}).collect()

    asked = {"planning": spark.read.parquet, "reading": summed}
    for what, ask in asked.items():
        name = f"WebHDFS: {what} {MANY:,} files"
        if is_wanted(name):
            figures = medians(partial(ask, there), partial(ask, many), times=TIMES_MANY)
            yield row(name, *figures, "report", met=None)


def writes(spark: SparkSession, lake: Lake) -> Iterator[Row]:
    """Write all events, staged on a branch."""
    if not is_wanted("WebHDFS: write"):
        return
    frame = spark.read.parquet(str(EVENTS))
    numbers = count()
    top = f"lochan://{lake.name.partition('://')[2]}/written/main"
    lake.repository("written").create()
    shutil.rmtree(FOLDER / "plain", ignore_errors=True)  # left by a run that was stopped

    def ours() -> None:
        frame.write.parquet(f"{top}/{next(numbers)}")

    def theirs() -> None:
        frame.write.parquet(str(FOLDER / "plain"))

    figures = medians(ours, theirs, lambda: shutil.rmtree(FOLDER / "plain"))
    yield at_least("WebHDFS: write", figures, LEAST_WRITE)


if __name__ == "__main__":
    print(msgspec.json.encode(main()).decode())
