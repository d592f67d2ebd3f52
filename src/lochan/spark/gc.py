# SPDX-License-Identifier: Apache-2.0
"""Mark with Spark, some ranges a task. The rest of a collection is `lochan.operations.gc`.

    lochan.operations.gc.collect.collect(lake, repository, Collection(read=spark_marks(spark, ...)))

Tasks work out the marks of ranges that nobody has yet, and store them; the driver reads all marks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pyspark.sql import SparkSession

from lochan.model.ids import RangeId
from lochan.model.records import Repository
from lochan.operations.gc.mark import range_marks
from lochan.operations.gc.marks import Marks, RangeMarks, ReadMarks
from lochan.operations.gc.roots import home_of
from lochan.operations.lake import Lake
from lochan.spark.task_storage import TaskStorage

_PARTS_A_CORE: Final = 4  # a task of Python takes 27 ms of a core before it does anything


def spark_marks(spark: SparkSession, lake: Lake, repository: Repository) -> ReadMarks:
    """Give what reads the marks of a repository's ranges, with the help of Spark's executors."""
    own = range_marks(lake, repository)
    cuts = lake.storage(repository.storage_namespace).snapshots.cuts
    work = _MarkRanges(TaskStorage(repository.storage_namespace, cuts), home_of(repository))

    def read(ranges: Iterable[RangeId]) -> Iterator[Marks]:
        wanted = list(ranges)
        missing = [one for one in wanted if not own.has(one)]
        if missing:
            context = spark.sparkContext
            parts = min(len(missing), _PARTS_A_CORE * context.defaultParallelism)
            context.parallelize(missing, parts).foreachPartition(work)
        return own(wanted)

    return read


@dataclass(frozen=True, slots=True)
class _MarkRanges:
    """The work of a task."""

    storage: TaskStorage
    inside: bytes

    def __call__(self, ranges: Iterable[RangeId]) -> None:
        """Work out marks, and store them."""
        marks = RangeMarks(self.storage.objects(), self.storage.files(), self.inside)
        for one in ranges:
            marks.of(one)
