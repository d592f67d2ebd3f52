# SPDX-License-Identifier: Apache-2.0
"""Direct read and write beside plain Spark, on the same files, in the same session.

python bench/spark_direct.py [words]       rows that have one of the words; all unless told
"""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import msgspec
from pyspark.sql import DataFrame, SparkSession

import lochan
import lochan.spark
from measure import Row, is_wanted
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

LARGE = 0.95
SLACK_S = 0.05


def main() -> list[Row]:
    """Measure all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with lochan.open(FOLDER / "lake") as lake, session(lake) as spark:
        make_files(spark)
        import_files(lake.repository("bench").create(exist_ok=True).branch("main"))
        return [*reads(spark), *planning(spark), *writes(spark)]


def reads(spark: SparkSession) -> Iterator[Row]:
    """Scan, aggregate, prune and count."""
    plain = spark.read.parquet(str(EVENTS))
    direct = lochan.spark.read(spark, "lochan://bench/main/events")
    works: dict[str, Callable[[DataFrame], object]] = {
        "full scan": lambda frame: frame.write.format("noop").mode("overwrite").save(),
        "two columns": lambda frame: frame.groupBy("shop").avg("price").collect(),
        "one partition": lambda frame: frame.where("year = 2024 AND month = 3").count(),
        "count": lambda frame: frame.count(),
    }
    for what, work in works.items():
        name = f"direct read: {what}"
        if not is_wanted(name):
            continue
        figures = medians(partial(work, direct), partial(work, plain))
        if what == "one partition":
            met = figures[0] - SLACK_S <= figures[1]
            yield row(name, *figures, "within 50 ms", met=met)
        else:
            yield at_least(name, figures, LARGE)


def planning(spark: SparkSession) -> Iterator[Row]:
    """Make a DataFrame of many small files."""
    name = f"direct read: planning {MANY:,} files"
    if not is_wanted(name):
        return
    ours, theirs = medians(
        lambda: lochan.spark.read(spark, "lochan://bench/main/many"),
        lambda: spark.read.parquet(str(FILES)),
    )
    yield row(name, ours, theirs, "no slower", met=ours <= theirs)


def writes(spark: SparkSession) -> Iterator[Row]:
    """Write all events, each time to a lake and a folder of their own."""
    frame = spark.read.parquet(str(EVENTS))
    for columns in ([], ["month"]):
        name = f"direct write{', partitionBy' if columns else ''}"
        if not is_wanted(name):
            continue
        numbers = count()

        def ours(by: list[str] = columns, numbers: Iterator[int] = numbers) -> None:
            branch = target.repository(f"written{next(numbers)}").create().branch("main")
            lochan.spark.write(frame, f"{branch.uri}/t", partition_by=by, lake=target)

        def theirs(by: list[str] = columns) -> None:
            frame.write.partitionBy(*by).parquet(str(FOLDER / "plain"))

        for left in ("written", "plain"):  # by a run that was stopped
            shutil.rmtree(FOLDER / left, ignore_errors=True)
        with lochan.open(FOLDER / "written") as target:
            figures = medians(ours, theirs, lambda: shutil.rmtree(FOLDER / "plain"))
        shutil.rmtree(FOLDER / "written")
        yield at_least(name, figures, LARGE)


if __name__ == "__main__":
    print(msgspec.json.encode(main()).decode())
