# SPDX-License-Identifier: Apache-2.0
"""What runs as the driver of a cluster in tests: one session, several scenes, findings as JSON.

python spark_on_cluster.py <master> <lake's folder> <scratch folder>
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.taskcontext import TaskContext

import lochan
import lochan.spark
from lochan.client import Branch, Lake
from support import jobs_on_cluster
from support.jobs_on_cluster import SETTINGS

ROWS = 4000
Batches = Iterable[object]


def once(marker: str) -> bool:
    """Say yes to one caller of all processes."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def fails_once(marker: str, batches: Batches) -> Iterator[object]:
    """Pass rows on; the first task fails when it has passed all."""
    yield from batches
    if once(marker):
        raise ValueError("the first attempt")


def kills_executor(marker: str, batches: Batches) -> Iterator[object]:
    """Pass rows on; the first task kills the JVM that it belongs to."""
    yield from batches
    if once(marker):
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
        os.kill(int(daemon[1]), signal.SIGKILL)
        time.sleep(60)


def dawdles(marker: str, batches: Batches) -> Iterator[object]:
    """Pass rows on; the first attempt of one task is so slow that Spark starts another."""
    yield from batches
    context = TaskContext.get()
    if context is not None and context.partitionId() == 0 and context.attemptNumber() == 0:
        Path(marker).touch()
        time.sleep(30)
    elif context is not None and context.partitionId() == 0:
        Path(f"{marker}-second").touch()


def fails_always(batches: Batches) -> Iterator[object]:
    """Pass rows on, then fail."""
    yield from batches
    raise ValueError("every attempt")


def written(spark: SparkSession, branch: Branch, frame: DataFrame) -> dict[str, object]:
    """Write, read back, and tell what the branch shows."""
    error = ""
    before = branch.head.id
    try:
        lochan.spark.write(frame, f"{branch.uri}/t", "append")
    except PySparkException as raised:
        error = type(raised).__name__
    found = [one for one in branch.objects("t/") if one.path.endswith(".parquet")]
    shown = lochan.spark.read(spark, f"{branch.uri}/t") if found else None
    return {
        "error": error,
        "rows": shown.count() if shown else 0,
        "distinct": shown.select("id").distinct().count() if shown else 0,
        "files": len(found),
        "moved": branch.head.id != before,
    }


def main(master: str, folder: str, scratch: str) -> dict[str, object]:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    scenes: dict[str, Callable[[Batches], Iterator[object]]] = {
        "a task fails": partial(fails_once, f"{scratch}/fails"),
        "a task is slow": partial(dawdles, f"{scratch}/slow"),
        "an executor is killed": partial(kills_executor, f"{scratch}/kills"),
        "all attempts fail": fails_always,
    }
    with lochan.open(folder) as lake:
        spark = lochan.spark.session(lake, SETTINGS, master=master)
        found: dict[str, object] = {"scenes": played(spark, lake, scenes)}
        found["speculated"] = Path(f"{scratch}/slow-second").exists()
        found["jobs"] = jobs_on_cluster.played(spark, Path(scratch) / "jobs", 1)
        spark.stop()
    return found


def played(
    spark: SparkSession,
    lake: Lake,
    scenes: dict[str, Callable[[Batches], Iterator[object]]],
) -> dict[str, object]:
    found: dict[str, object] = {}
    for number, (name, scene) in enumerate(scenes.items()):
        branch = lake.repository(f"scene-{number}").create().branch("main")
        frame = spark.range(0, ROWS, 1, 4).mapInArrow(scene, "id LONG")
        found[name] = written(spark, branch, frame)
    return found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
