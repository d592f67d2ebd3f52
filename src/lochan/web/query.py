# SPDX-License-Identifier: Apache-2.0
"""The parameters of a query, read into the shape that a route declares.

What is no UTF-8 is refused, in the query and in the path: it would be read with U+FFFD in its
place, and two names that differ in such bytes would be one.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import msgspec
from falcon.util.uri import parse_query_string

from lochan.errors import InvalidInput
from lochan.shapes.fields import Timestamp

_BEYOND_ASCII: Final = re.compile("%[89a-fA-F]|[^\\x00-\\x7f]")
_REPLACED: Final = "\ufffd"


def query_reader(shape: type[msgspec.Struct]) -> Callable[[str], msgspec.Struct]:
    """Make what reads a query string. It raises InvalidInput."""
    types = {field.encode_name: str(field.type) for field in msgspec.structs.fields(shape)}
    several = {name for name, type_ in types.items() if "tuple" in type_}
    moments = {name for name, type_ in types.items() if "datetime" in type_}

    def read(text: str) -> msgspec.Struct:
        _require_utf8(text)
        found: dict[str, Any] = parse_query_string(text, keep_blank=True, csv=False)
        for name, value in found.items():
            if name in several:
                found[name] = value if isinstance(value, list) else [value]
            elif isinstance(value, list):
                raise InvalidInput(f"the parameter {name!r} is there {len(value)} times; give one")
            elif name in moments:
                found[name] = _moment(name, value)
        try:
            return msgspec.convert(found, shape, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"a query parameter is wrong: {error}") from error

    return read


def require_text(path: str) -> None:
    """Refuse a decoded path in which bytes were replaced. Raises InvalidInput.

    Whether U+FFFD stood there from the first cannot be told; nobody has it in a name on purpose.
    """
    if _REPLACED in path:
        raise _not_utf8("path")


def _moment(name: str, value: str) -> datetime:
    # Strictly: where words stand for numbers, too, the year 2025 would be a second of 1970.
    try:
        return msgspec.convert(value, Timestamp)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            f"the parameter {name!r} is {value!r}; give a time in RFC 3339 form with its zone, such"
            " as 2025-07-01T00:00:00Z (a + of a zone is written as %2B)"
        ) from error


def _require_utf8(query: str) -> None:
    if _BEYOND_ASCII.search(query):
        try:
            unquote_to_bytes(query).decode()
        except UnicodeDecodeError as error:
            raise _not_utf8("query") from error


def _not_utf8(where: str) -> InvalidInput:
    return InvalidInput(
        f"the {where} of the address holds bytes that are no UTF-8; names are UTF-8, and each of"
        " its bytes beyond ASCII is written as % and two hexadecimal digits",
        code="invalid-address",
    )
