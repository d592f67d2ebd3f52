# SPDX-License-Identifier: Apache-2.0
"""Metadata tables through the data source: `.option("table", "objects")`.

    spark.read.format("lochan").option("table", "objects").load("lochan://repository/main/prefix")
    spark.read.format("lochan").option("table", "diff").option("left", "v1")
        .load("lochan://repository/main")

An explicit schema prunes columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lochan.model.uri import Uri
from lochan.spark.known_lake import KnownLake
from lochan.spark.reach import OPTION, find_reach
from lochan.spark.table_plan import Tasks, plan_table
from lochan.spark.table_rows import arrow_of, table_schema

__all__ = ["TablePartition", "TableReader", "table_schema"]


@dataclass(frozen=True)
class TablePartition(InputPartition):
    """One task of a table."""

    tasks: Tasks
    number: int


class TableReader(DataSourceReader):
    """Reads a metadata table of the commit that a ref names when the read is planned."""

    def __init__(
        self, known: KnownLake, uri: Uri, options: Mapping[str, str], schema: StructType
    ) -> None:
        """Read these columns."""
        self._known = known
        self._uri = uri
        self._options = dict(options)
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Resolve the commit, and share its ranges out."""
        with self._known.opened() as lake:
            repository = lake.repository(self._uri.repository)
            reach = find_reach(self._known, repository, self._options.get(OPTION, ""))
            tasks = plan_table(
                lake,
                reach,
                self._uri,
                self._options.get("table", ""),
                arrow_of(self._schema),
                left=self._options.get("left", ""),
            )
        return [TablePartition(tasks.only(number), 0) for number in range(len(tasks))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Give the rows of one task."""
        assert isinstance(partition, TablePartition)  # noqa: S101 - our own, come back
        return partition.tasks.batches(partition.number)
