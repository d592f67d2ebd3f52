# SPDX-License-Identifier: Apache-2.0
"""Plan a read by Spark's public means alone: the paths of each partition, and its values beside.

For versions of Spark whose inside is not known. Rows, columns and their types are those of the file
index; the plan grows with the number of partitions, and Spark looks at every file before it starts.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import reduce
from typing import Final
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import (
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructType,
)

from lochan.errors import InvalidInput
from lochan.spark.places import Place
from lochan.spark.resolved import File

_AS_IT_STANDS: Final = "__globPaths__"  # else brackets and stars in a path are patterns
NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_INFERENCE: Final = "spark.sql.sources.partitionColumnTypeInference.enabled"
_INT: Final = 1 << 31
_LONG: Final = 1 << 63
Values = tuple[tuple[str, str], ...]


def open_by_partition(
    spark: SparkSession,
    placed: Sequence[tuple[File, Place]],
    format_: str,
    schema: StructType | None,
    options: Mapping[str, str],
) -> DataFrame:
    """Give a DataFrame of files, one part of the plan for each partition."""
    groups: dict[Values, list[str]] = {}
    for file, place in placed:
        groups.setdefault(values_of(file.path), []).append(str(place))
    names = [name for name, _ in next(iter(groups))]
    if any([name for name, _ in values] != names for values in groups):
        raise InvalidInput("folders have different partition columns; read them one by one")
    if not names:
        groups = {(): [str(place) for file, place in placed if "/" not in file.path]}
    types = _types(spark, names, groups, schema)
    reader = spark.read.format(format_).options(**{**options, _AS_IT_STANDS: "false"})
    if schema is not None:
        kept = [field for field in schema.fields if field.name not in names]
        reader = reader.schema(StructType(kept))

    def part(values: Values, paths: list[str]) -> DataFrame:
        given = {name: _literal(value, types[name]) for name, value in values}
        return reader.load(paths).withColumns(given) if given else reader.load(paths)

    parts = [part(values, paths) for values, paths in groups.items()]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)


def values_of(path: str) -> Values:
    """Take the partition values from a path: year=2024/month=3/x.parquet."""
    found = []
    for folder in path.split("/")[:-1]:
        name, equals, value = folder.partition("=")
        if equals:
            found.append((unquote(name), unquote(value)))
    return tuple(found)


def _types(
    spark: SparkSession,
    names: list[str],
    groups: Mapping[Values, object],
    schema: StructType | None,
) -> dict[str, DataType]:
    said = {field.name: field.dataType for field in schema.fields} if schema else {}
    inferred = spark.conf.get(_INFERENCE) == "true"
    types: dict[str, DataType] = {}
    for number, name in enumerate(names):
        values = [group[number][1] for group in groups if group[number][1] != NULL]
        guessed = _guessed(values) if inferred else StringType()
        types[name] = said.get(name, guessed)
    return types


def _guessed(values: list[str]) -> DataType:
    """Guess a type as Spark does: the narrowest that holds all values."""
    kinds: list[tuple[Callable[[str], object], DataType]] = [
        (lambda text: _whole(text, _INT), IntegerType()),
        (lambda text: _whole(text, _LONG), LongType()),
        (float, DoubleType()),
        (date.fromisoformat, DateType()),
    ]
    for parse, kind in kinds:
        try:
            for value in values:
                parse(value)
        except ValueError:
            continue
        return kind if values else StringType()
    return StringType()


def _whole(text: str, limit: int) -> int:
    number = int(text)
    if not -limit <= number < limit:
        raise ValueError(text)
    return number


def _literal(value: str, kind: DataType) -> Column:
    return sql.lit(None if value == NULL else value).cast(kind)
