# SPDX-License-Identifier: Apache-2.0
"""What the parts about Spark have in common: a session, the files, and medians of five.

About 1 GB of Parquet in 72 files and 12 partitions, and 10,000 small files, are made once under
.cache/bench/spark and imported where they lie, so that both sides read the same bytes. Each figure
is the median of five runs of either side, one after the other in turn.
"""

import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

import lochan.spark
from lakes import FOLDER as CACHE
from lochan.client import Branch, Lake
from measure import Row, chosen

FOLDER = CACHE / "spark" / chosen("full", small="small")
ROWS = chosen(22_000_000, small=60_000)
MANY = chosen(10_000, small=100)
TIMES = chosen(5, small=1)
EVENTS, FILES = FOLDER / "events", FOLDER / "many"


@contextmanager
def session(lake: Lake) -> Iterator[SparkSession]:
    """Give Spark on two cores, and stop it."""
    settings = {"spark.ui.enabled": False, "spark.driver.memory": "3g"}
    spark = lochan.spark.session(lake, settings, master="local[2]")
    try:
        yield spark
    finally:
        spark.stop()


def make_files(spark: SparkSession) -> None:
    """Make the files, unless an earlier run has."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not EVENTS.exists():
        draft = FOLDER / "draft"
        shutil.rmtree(draft, ignore_errors=True)
        columns = (
            "id",
            "rand(1) AS price",
            "rand(2) AS weight",
            "CAST(rand(3) * 1000 AS INT) AS shop",
            "hex(xxhash64(id)) AS code",
            "CAST(timestamp_seconds(1700000000 + id) AS TIMESTAMP) AS at",
            "2023 + CAST(rand(4) * 2 AS INT) AS year",
            "1 + CAST(rand(5) * 6 AS INT) AS month",
        )
        spark.range(0, ROWS, 1, 6).selectExpr(*columns).write.partitionBy("year", "month").parquet(
            str(draft)
        )
        draft.rename(EVENTS)
    if not FILES.exists():
        draft = FOLDER / "draft"
        shutil.rmtree(draft, ignore_errors=True)
        spark.range(1).repartition(1).write.parquet(str(draft))
        one = next(draft.glob("part-*.parquet"))
        for number in range(1, MANY):
            shutil.copyfile(one, one.with_name(f"part-{number:05}.parquet"))
        draft.rename(FILES)


def import_files(branch: Branch) -> None:
    """Import the files to a branch, unless it has them."""
    if next(iter(branch.objects(max_amount=1)), None) is not None:
        return
    given = branch.import_data("bench")
    for folder in (EVENTS, FILES):
        given = given.prefix(f"file://{folder}/", destination=f"{folder.name}/")
    given.run()


def medians(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    clean: Callable[[], object] = lambda: None,
    times: int = TIMES,
) -> tuple[float, float]:
    """Run both sides in turn; the first run of each warms up and does not count."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(times + 1):
        for work, seconds in zip((ours, theirs), taken, strict=True):
            begun = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - begun)
        clean()
    return statistics.median(taken[0][1:]), statistics.median(taken[1][1:])


def row(what: str, ours: float, theirs: float, target: str, *, met: bool | None) -> Row:
    """Give a line of the table; a ratio above 1 is faster than plain Spark."""
    return Row(what, f"{ours:.3f} s", f"plain {theirs:.3f} s", theirs / ours, target, met)


def at_least(what: str, figures: tuple[float, float], least: float) -> Row:
    """Give a line with the least share of plain Spark's speed."""
    ours, theirs = figures
    return row(what, ours, theirs, f">= {least}x plain", met=theirs / ours >= least)
