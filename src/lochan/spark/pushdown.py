# SPDX-License-Identifier: Apache-2.0
"""Spark's filters as pyarrow's, to skip files and row groups early.

Spark applies every filter again to the rows that it is given, so a filter here may be looser than
it is and never stricter. Only whole numbers, text, dates and truth values are compared: of those
both have the same order.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow.compute as pc
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)
from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

_SAME_ORDER: Final = (
    BooleanType,
    ByteType,
    DateType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
)
_COMPARED: Final = {
    EqualTo: "__eq__",
    GreaterThan: "__gt__",
    GreaterThanOrEqual: "__ge__",
    LessThan: "__lt__",
    LessThanOrEqual: "__le__",
}


def usable(filters: Iterable[Filter], schema: StructType) -> list[Filter]:
    """Keep the filters that can be used here."""
    ordered = {field.name for field in schema if isinstance(field.dataType, _SAME_ORDER)}
    return [one for one in filters if type(one) in _HANDLED and _column(one) in ordered]


def expression(filters: Iterable[Filter], without: Iterable[str]) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Join filters on columns that files have; None where there is none."""
    joined = None
    for one in filters:
        if _column(one) in set(without):
            continue
        made = _made(one)
        joined = made if joined is None else joined & made
    return joined


def may_match(filters: Iterable[Filter], told: Mapping[str, str | None]) -> bool:
    """Say whether a file can have rows that match, by what its path tells."""
    return all(_may(one, told[_column(one)]) for one in filters if _column(one) in told)


def _may(one: Filter, value: str | None) -> bool:
    if isinstance(one, IsNotNull):
        return value is not None
    if isinstance(one, EqualTo):
        return value is not None and _same(one.value, value)
    if isinstance(one, In):
        return value is not None and any(_same(wanted, value) for wanted in one.value)
    return True


def _same(wanted: object, value: str) -> bool:
    """Say whether a value may be the one that a path spells: 5 is spelled 5, and 05."""
    if isinstance(wanted, str):
        return wanted == value
    digits = value.removeprefix("-")
    if type(wanted) is int and digits.isascii() and digits.isdigit():
        return wanted == int(value)
    return True


def _column(one: Any) -> str:  # noqa: ANN401 - each kind of filter has its own fields
    return ".".join(one.attribute)


def _made(one: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    field = pc.field(_column(one))
    if isinstance(one, IsNotNull):
        return field.is_valid()
    if isinstance(one, In):
        return field.isin(list(one.value))
    return getattr(field, _COMPARED[type(one)])(one.value)


_HANDLED: Final = frozenset({*_COMPARED, In, IsNotNull})
