# SPDX-License-Identifier: Apache-2.0
"""The parameters of a query, read into the shape that a route declares."""

from collections.abc import Callable
from typing import Any

import msgspec
from falcon.util.uri import parse_query_string

from lochan.errors import InvalidInput


def query_reader(shape: type[msgspec.Struct]) -> Callable[[str], msgspec.Struct]:
    """Make what reads a query string. It raises InvalidInput."""
    several = {
        field.encode_name
        for field in msgspec.structs.fields(shape)
        if str(field.type).find("tuple") >= 0
    }

    def read(text: str) -> msgspec.Struct:
        found: dict[str, Any] = parse_query_string(text, keep_blank=True, csv=False)
        for name, value in found.items():
            if name in several:
                found[name] = value if isinstance(value, list) else [value]
            elif isinstance(value, list):
                raise InvalidInput(f"the parameter {name!r} is there {len(value)} times; give one")
        try:
            return msgspec.convert(found, shape, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidInput(f"a query parameter is wrong: {error}") from error

    return read
