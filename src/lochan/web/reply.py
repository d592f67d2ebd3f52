# SPDX-License-Identifier: Apache-2.0
"""What a handler answers, where a shape alone does not say it all."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: a shape or bytes, or chunks that are made while they are sent."""

    body: msgspec.Struct | list[Any] | dict[str, Any] | bytes | None = None
    status: int | None = None  # the first that the route declares
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON  # of bytes and chunks; empty: none is sent (see `adapter`)
    chunks: Iterable[bytes] | None = None
    length: int | None = None  # of the chunks together, where it is known


def text(body: str, status: int | None = None) -> Reply:
    """Answer with plain text."""
    return Reply(body.encode(), status, content_type="text/plain; charset=utf-8")
