# SPDX-License-Identifier: Apache-2.0
"""Metadata tables as DataFrames: what the lake knows, for questions of any size.

    objects(spark, "lochan://repository/main/prefix")         what a ref has
    diff(spark, "lochan://repository/v1", "lochan://repository/main")
                                                              what the right has otherwise
    commits(spark, "lochan://repository/main")                what is behind a ref; or behind all
    branches(spark, "lochan://repository")
    history(spark, "lochan://repository/main/a/b.parquet")    commits that changed one object

Objects and differences are read from the ranges by tasks, each one range (`table_tasks`); the
driver reads the metarange alone. `columns` prunes: what is not named is not made. A ref is pinned
when the function is called.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.model.uri import Uri, parse_uri
from lochan.spark.bound import lake_of
from lochan.spark.known_lake import KnownLake
from lochan.spark.reach import find_reach
from lochan.spark.table_plan import ShortTasks, Tasks, plan_table
from lochan.spark.table_rows import arrow_of, table_schema


def objects(
    spark: SparkSession,
    address: str,
    columns: Sequence[str] = (),
    *,
    lake: Lake | None = None,
    reach: str = "",
) -> DataFrame:
    """Give the objects of a ref, below a prefix if the address has one."""
    return _Asked(spark, parse_uri(address), lake, reach).frame("objects", columns)


def diff(
    spark: SparkSession,
    left: str,
    right: str,
    columns: Sequence[str] = (),
    *,
    lake: Lake | None = None,
    reach: str = "",
) -> DataFrame:
    """Give what differs from one ref to another of the same repository: added, removed, changed.

    Columns are those of the right side; those of the left begin with `left_`.
    """
    one, other = parse_uri(left), parse_uri(right)
    if (one.server, one.repository, one.path) != (other.server, other.repository, other.path):
        raise InvalidInput(f"{left} and {right} are not the same place at two refs")
    return _Asked(spark, other, lake, reach).frame("diff", columns, left=one.ref)


def commits(spark: SparkSession, address: str, *, lake: Lake | None = None) -> DataFrame:
    """Give the commits that are behind a ref; without one, behind every branch and tag."""
    return _Asked(spark, parse_uri(address), lake).frame("commits")


def branches(spark: SparkSession, address: str, *, lake: Lake | None = None) -> DataFrame:
    """Give the branches of a repository."""
    return _Asked(spark, parse_uri(address), lake).frame("branches")


def history(spark: SparkSession, address: str, *, lake: Lake | None = None) -> DataFrame:
    """Give the commits, by first parents, that changed an object, newest first."""
    return _Asked(spark, parse_uri(address), lake).frame("history")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked, and of which lake."""

    spark: SparkSession
    uri: Uri
    lake: Lake | None = None
    reach: str = ""

    def frame(self, table: str, columns: Sequence[str] = (), *, left: str = "") -> DataFrame:
        whole = table_schema(table)
        schema = StructType([whole[name] for name in columns]) if columns else whole
        lake = lake_of(self.spark, self.uri, self.lake)
        known = KnownLake.of(lake)
        reach = find_reach(known, lake.repository(self.uri.repository), self.reach)
        tasks = plan_table(lake, reach, self.uri, table, arrow_of(schema), left=left)
        if isinstance(tasks, ShortTasks):
            return self.spark.createDataFrame(tasks.table, schema)
        if not len(tasks):
            return self.spark.createDataFrame([], schema)
        # Numbers in as many partitions as Spark has cores, and nothing is shuffled. A partition for
        # each would be slower: a task of Python takes 27 ms of a core before it does anything.
        numbers = self.spark.range(0, len(tasks), 1)
        with warnings.catch_warnings():  # of pandas' version, which has no part in Arrow's way
            warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
            return numbers.mapInArrow(_Numbered(tasks), schema)


class _Numbered:
    """Runs the tasks whose numbers it is given."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self._tasks.batches(number)
