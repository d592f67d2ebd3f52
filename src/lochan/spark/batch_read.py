# SPDX-License-Identifier: Apache-2.0
"""Read the files of one commit in tasks, as Arrow batches.

Small files share a task; a large one has its own. A schema that is given explicitly prunes columns:
what is not named is not read. (Spark tells a Python source nothing of the columns that a query
uses.) Filters are not taken over: Spark plans a source once for all queries of a DataFrame, and so
with the filters of the first one (4.1 to 4.3). Who wants a part names its folder.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from lochan.model.uri import Uri
from lochan.spark.arrow_files import batches, kind_of
from lochan.spark.known_lake import KnownLake
from lochan.spark.planned import plan
from lochan.spark.reach import PinnedFile, Reach
from lochan.spark.shaped import TOLD, partition_values, shaped, told_values

_TASK_BYTES: Final = 64 << 20
_OPEN_BYTES: Final = 1 << 20  # what opening a file costs, in bytes that could be read meanwhile


@dataclass(frozen=True)
class FilesPartition(InputPartition):
    """The files of one task, each with what became of it."""

    reach: Reach
    folder: str
    files: tuple[tuple[PinnedFile, str], ...]


class FilesReader(DataSourceReader):
    """Reads the files of a path at the commit that its ref names when the read is planned."""

    def __init__(
        self, known: KnownLake, uri: Uri, options: Mapping[str, str], schema: StructType
    ) -> None:
        """Read these columns."""
        self._known = known
        self._uri = uri
        self._options = dict(options)
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        """Resolve the commit, and share its files out."""
        found = plan(self._known, self._uri, self._options)
        files = [(file, "") for file in found.files]
        return [FilesPartition(found.reach, found.folder, task) for task in packed(files)] or [
            FilesPartition(found.reach, found.folder, ())
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Give the rows of some files."""
        assert isinstance(partition, FilesPartition)  # noqa: S101 - our own, come back
        return read_files(partition, self._schema, self._options)


def packed(
    files: Sequence[tuple[PinnedFile, str]],
) -> Iterator[tuple[tuple[PinnedFile, str], ...]]:
    """Share files out to tasks of about equal size, in their order."""
    task: list[tuple[PinnedFile, str]] = []
    size = 0
    for one in files:
        cost = one[0].size + _OPEN_BYTES
        if task and size + cost > _TASK_BYTES:
            yield tuple(task)
            task, size = [], 0
        task.append(one)
        size += cost
    if task:
        yield tuple(task)


def read_files(
    partition: FilesPartition, schema: StructType, options: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    """Read files in the shape of a schema."""
    target = to_arrow_schema(schema, timezone="UTC")
    for file, change in partition.files:
        told = told_values(file, partition.folder, change)
        by_path = partition_values(file.path, partition.folder)
        # A file may have columns of these names itself: a sink writes what a stream has told.
        own = () if kind_of(file.path, options) == "parquet" else TOLD
        wanted = pa.schema(
            [one for one in target if one.name not in by_path and one.name not in own]
        )
        source = partition.reach.open(file)
        for batch in batches(source, file.path, options, wanted):
            yield shaped(batch, target, told)
