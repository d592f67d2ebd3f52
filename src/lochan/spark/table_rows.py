# SPDX-License-Identifier: Apache-2.0
"""The columns of metadata tables, and the rows of those that are short: commits, branches, history.

The short ones are read from the lake where the query is planned, and sent as they are.
"""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from lochan.client.commit import Commit
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.model.codec import decode_entry
from lochan.model.ids import MetaRangeId
from lochan.model.uri import Uri
from lochan.spark.reach import Reach

_TEXT, _NUMBER, _MOMENT = StringType(), LongType(), TimestampType()
_MAP = MapType(_TEXT, _TEXT, valueContainsNull=False)
_OBJECT: Final[dict[str, DataType]] = {
    "physical_address": _TEXT,
    "size_bytes": _NUMBER,
    "checksum": _TEXT,
    "mtime": _MOMENT,
    "content_type": _TEXT,
    "metadata": _MAP,
}
_COMMIT: Final[dict[str, DataType]] = {
    "commit_id": _TEXT,
    "parents": ArrayType(_TEXT, containsNull=False),
    "committer": _TEXT,
    "message": _TEXT,
    "creation_date": _MOMENT,
    "meta_range_id": _TEXT,
    "metadata": _MAP,
    "generation": _NUMBER,
}
TABLES: Final[dict[str, dict[str, DataType]]] = {
    "objects": {"path": _TEXT, **_OBJECT},
    "diff": {
        "type": _TEXT,
        "path": _TEXT,
        **_OBJECT,
        **{f"left_{name}": kind for name, kind in _OBJECT.items()},
    },
    "commits": _COMMIT,
    "branches": {"branch": _TEXT, "commit_id": _TEXT},
    "history": {
        "commit_id": _TEXT,
        "committer": _TEXT,
        "message": _TEXT,
        "creation_date": _MOMENT,
        "type": _TEXT,
        "size_bytes": _NUMBER,
        "checksum": _TEXT,
    },
}


def table_schema(table: str) -> StructType:
    """Give the columns of a table. Raises InvalidInput for one that is not."""
    columns = TABLES.get(table)
    if columns is None:
        message = f"{table!r} is no metadata table; there are {', '.join(TABLES)}"
        raise InvalidInput(message, code="unknown-table")
    return StructType([StructField(name, kind) for name, kind in columns.items()])


def arrow_of(schema: StructType) -> pa.Schema:
    """Give a schema as Arrow has it."""
    return to_arrow_schema(schema, timezone="UTC")


def short_rows(lake: Lake, reach: Reach, uri: Uri, table: str) -> list[dict[str, Any]]:
    """Give the rows of commits, branches or history."""
    repository = lake.repository(uri.repository)
    if table == "branches":
        return [{"branch": one.id, "commit_id": one.commit_id} for one in repository.branches()]
    if table == "commits":
        return list(map(_commit_row, _commits(lake, uri)))
    if not uri.ref or not uri.path:
        raise InvalidInput(f"{uri} names no object; write lochan://repository/ref/path")
    log = repository.ref(uri.ref).log(objects=[uri.path], first_parent=True)
    return [_history_row(lake, reach, uri, commit) for commit in log]


def _commits(lake: Lake, uri: Uri) -> Iterator[Commit]:
    """Give the commits that a ref has behind it; without a ref, those of all branches and tags."""
    repository = lake.repository(uri.repository)
    if uri.ref:
        yield from repository.ref(uri.ref).log()
        return
    seen: set[str] = set()
    for name in [*repository.branches(show_hidden=True), *repository.tags()]:
        for commit in repository.ref(name.commit_id).log():
            if commit.id not in seen:
                seen.add(commit.id)
                yield commit


def _commit_row(commit: Commit) -> dict[str, Any]:
    record = commit.record
    return {
        "commit_id": record.id,
        "parents": list(record.parents),
        "committer": record.committer,
        "message": record.message,
        "creation_date": commit.creation_date,
        "meta_range_id": record.meta_range_id,
        "metadata": list(record.metadata.items()),
        "generation": record.generation,
    }


def _history_row(lake: Lake, reach: Reach, uri: Uri, commit: Commit) -> dict[str, Any]:
    key = uri.path.encode()
    repository = lake.repository(uri.repository)
    parent = repository.commit(commit.parents[0]).meta_range_id if commit.parents else ""
    before = reach.snapshots.get(MetaRangeId(parent), key)
    now = reach.snapshots.get(MetaRangeId(commit.meta_range_id), key)
    entry = None if now is None else decode_entry(now.value)
    return {
        "commit_id": commit.id,
        "committer": commit.committer,
        "message": commit.message,
        "creation_date": commit.creation_date,
        "type": "removed" if now is None else "added" if before is None else "changed",
        "size_bytes": None if entry is None else entry.size,
        "checksum": None if entry is None else entry.e_tag,
    }
