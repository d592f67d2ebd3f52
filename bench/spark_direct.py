# SPDX-License-Identifier: Apache-2.0
"""Direct read and write beside plain Spark, on the same files, in the same session.

About 1 GB of Parquet in 72 files and 12 partitions, and 10,000 small files, are made once under
.cache/bench/spark and imported where they lie, so that both sides read the same bytes. Each figure
is the median of five runs of either side, one after the other in turn.
"""

import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
from pyspark.sql import DataFrame, SparkSession

import lochan
import lochan.spark
from lochan.client import Lake
from measure import Row, chosen

FOLDER = Path(".cache/bench/spark").absolute() / chosen("full", small="small")
ROWS = chosen(22_000_000, small=60_000)
MANY = chosen(10_000, small=100)
TIMES = chosen(5, small=1)
EVENTS, FILES = FOLDER / "events", FOLDER / "many"
LARGE = 0.95
SLACK_S = 0.05


def main() -> list[Row]:
    """Measure all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with lochan.open(FOLDER / "lake") as lake:
        settings = {"spark.ui.enabled": False, "spark.driver.memory": "3g"}
        spark = lochan.spark.session(lake, settings, master="local[2]")
        made(spark, lake)
        try:
            return [*reads(spark), planning(spark), *writes(spark)]
        finally:
            spark.stop()


def made(spark: SparkSession, lake: Lake) -> None:
    """Make the files and import them, unless an earlier run has."""
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
    repository = lake.repository("bench").create(exist_ok=True)
    branch = repository.branch("main")
    if next(iter(branch.objects(max_amount=1)), None) is None:
        given = branch.import_data("bench")
        for folder in (EVENTS, FILES):
            given = given.prefix(f"file://{folder}/", destination=f"{folder.name}/")
        given.run()


def reads(spark: SparkSession) -> list[Row]:
    """Scan, aggregate, prune and count."""
    address = "lochan://bench/main/events"
    plain = spark.read.parquet(str(EVENTS))
    direct = lochan.spark.read(spark, address)
    works: dict[str, Callable[[DataFrame], object]] = {
        "full scan": lambda frame: frame.write.format("noop").mode("overwrite").save(),
        "two columns": lambda frame: frame.groupBy("shop").avg("price").collect(),
        "one partition": lambda frame: frame.where("year = 2024 AND month = 3").count(),
        "count": lambda frame: frame.count(),
    }
    rows = []
    for what, work in works.items():
        ours, theirs = medians(partial(work, direct), partial(work, plain))
        slack = SLACK_S if what == "one partition" else 0.0
        met = ours - slack <= theirs if slack else theirs / ours >= LARGE
        target = "within 50 ms" if slack else f"{LARGE}x plain"
        rows.append(row(f"direct read: {what}", ours, theirs, target, met=met))
    return rows


def planning(spark: SparkSession) -> Row:
    """Make a DataFrame of many small files."""
    ours, theirs = medians(
        lambda: lochan.spark.read(spark, "lochan://bench/main/many"),
        lambda: spark.read.parquet(str(FILES)),
    )
    return row(f"planning {MANY} files", ours, theirs, "no slower", met=ours <= theirs)


def writes(spark: SparkSession) -> list[Row]:
    """Write all events, each time to a lake and a folder of their own."""
    frame = spark.read.parquet(str(EVENTS))
    rows = []
    for columns in ([], ["month"]):
        numbers = count()

        def ours(by: list[str] = columns, numbers: Iterator[int] = numbers) -> None:
            branch = target.repository(f"written{next(numbers)}").create().branch("main")
            lochan.spark.write(frame, f"{branch.uri}/t", partition_by=by, lake=target)

        def theirs(by: list[str] = columns) -> None:
            frame.write.partitionBy(*by).parquet(str(FOLDER / "plain"))

        with lochan.open(FOLDER / "written") as target:
            figures = medians(ours, theirs, lambda: shutil.rmtree(FOLDER / "plain"))
        shutil.rmtree(FOLDER / "written")
        what = f"direct write{', partitionBy' if columns else ''}"
        rows.append(row(what, *figures, f"{LARGE}x plain", met=figures[1] / figures[0] >= LARGE))
    return rows


def medians(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    clean: Callable[[], object] = lambda: None,
) -> tuple[float, float]:
    """Run both sides in turn; the first run of each warms up and does not count."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(TIMES + 1):
        for work, times in zip((ours, theirs), taken, strict=True):
            begun = time.perf_counter()
            work()
            times.append(time.perf_counter() - begun)
        clean()
    return statistics.median(taken[0][1:]), statistics.median(taken[1][1:])


def row(what: str, ours: float, theirs: float, target: str, *, met: bool) -> Row:
    """Give a line of the table; a ratio above 1 is faster than plain Spark."""
    return Row(what, f"{ours:.3f} s", f"plain {theirs:.3f} s", theirs / ours, target, met)


if __name__ == "__main__":
    print(msgspec.json.encode(main()).decode())
