# SPDX-License-Identifier: Apache-2.0
"""Plan a metadata table: resolve refs, read metaranges, and hand out tasks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

import pyarrow as pa

from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.model.uri import Uri
from lochan.spark.planned import require_ref
from lochan.spark.reach import Reach
from lochan.spark.table_rows import short_rows, table_schema
from lochan.spark.table_tasks import diff_tasks, objects_tasks


class Tasks(Protocol):
    """The tasks of a table; they may be pickled."""

    def __len__(self) -> int: ...

    def batches(self, number: int) -> Iterator[pa.RecordBatch]:
        """Give the rows of one task."""

    def only(self, number: int) -> Self:
        """Give one task alone."""


@dataclass(frozen=True, slots=True)
class ShortTasks:
    """Rows that were read when the table was planned: one task."""

    table: pa.Table

    def __len__(self) -> int:
        return 1

    def batches(self, _: int) -> Iterator[pa.RecordBatch]:
        """Give them."""
        yield from self.table.to_batches()

    def only(self, _: int) -> "ShortTasks":
        """Give the one task."""
        return self


def plan_table(
    lake: Lake, reach: Reach, uri: Uri, table: str, schema: pa.Schema, *, left: str = ""
) -> Tasks:
    """Plan a table by its name; `schema` says which of its columns. Raises InvalidInput."""
    known = {field.name for field in table_schema(table)}
    if unknown := [name for name in schema.names if name not in known]:
        raise InvalidInput(f"{table} has no column {unknown[0]!r}", code="unknown-column")
    repository = lake.repository(uri.repository)
    if table not in {"objects", "diff"}:
        rows = short_rows(lake, reach, uri, table)
        return ShortTasks(pa.Table.from_pylist(rows, schema=schema))
    require_ref(uri)
    tree = repository.commit(uri.ref).meta_range_id
    if table == "objects":
        return objects_tasks(reach, tree, uri.path, schema)
    if not left:
        raise InvalidInput("a diff needs a left side; give option left: a ref")
    before = repository.commit(left).meta_range_id
    return diff_tasks(reach, (before, tree), uri.path, schema)
