# SPDX-License-Identifier: Apache-2.0
"""Rows in the shape that Spark expects: columns by name, cast, and those that paths tell.

    events/year=2024/country=ch/part-0.parquet     year = 2024, country = "ch"

A partition's value is a number where all paths have whole numbers, else text; of an explicit schema
it has that type. What a file lacks is null. Columns whose names begin with `_` may be asked for:

    _path        the object's path
    _commit_id   the commit in which it was read
    _change      what became of the file there: added, changed (streams; else empty)

A Parquet file that has such a column itself shows its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

import pyarrow as pa
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField, StructType

from lochan.spark.reach import PinnedFile

PATH, COMMIT_ID, CHANGE = "_path", "_commit_id", "_change"
TOLD: Final = (PATH, COMMIT_ID, CHANGE)
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_INT_DIGITS, _LONG_DIGITS = 9, 18


def partition_values(path: str, folder: str) -> dict[str, str | None]:
    """Read the values that a path tells below a folder."""
    found: dict[str, str | None] = {}
    for part in path.removeprefix(folder).split("/")[:-1]:
        name, equals, value = part.partition("=")
        if equals and name:
            found[unquote(name)] = None if value == _NULL else unquote(value)
    return found


def partition_types(paths: Iterable[str], folder: str) -> dict[str, DataType]:
    """Say which columns paths tell, and of which types."""
    values: dict[str, set[str]] = {}
    for path in paths:
        for name, value in partition_values(path, folder).items():
            values.setdefault(name, set()).update(() if value is None else {value})
    return {name: _type(found) for name, found in values.items()}


def with_told(schema: StructType, names: Sequence[str]) -> StructType:
    """Add the columns that paths and commits tell."""
    added = [StructField(name, StringType()) for name in names if name not in schema.fieldNames()]
    return StructType([*schema.fields, *added])


def told_values(file: PinnedFile, folder: str, change: str = "") -> dict[str, str | None]:
    """Give the values that are the same in all rows of a file."""
    told = {PATH: file.path, COMMIT_ID: file.commit_id, CHANGE: change}
    return {**partition_values(file.path, folder), **told}


def shaped(
    batch: pa.RecordBatch, target: pa.Schema, told: Mapping[str, str | None]
) -> pa.RecordBatch:
    """Give a batch with exactly the columns of a schema."""
    has = set(batch.schema.names)
    arrays = [
        batch.column(field.name).cast(field.type, safe=False)
        if field.name in has
        else pa.repeat(pa.scalar(told.get(field.name), pa.string()), batch.num_rows).cast(
            field.type
        )
        for field in target
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=target)


def _type(values: set[str]) -> DataType:
    longest = max((len(value.lstrip("-")) for value in values), default=0)
    if not values or not all(map(_is_whole, values)) or longest > _LONG_DIGITS:
        return StringType()
    return IntegerType() if longest <= _INT_DIGITS else LongType()


def _is_whole(value: str) -> bool:
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits == "0" or not digits.startswith("0"))
