# SPDX-License-Identifier: Apache-2.0
"""Answers that are errors, as the errors of `lochan.errors`.

A code that is some class's own names that class; else the status does. So code that catches
`NotFound` or `Conflict` works alike over HTTP, in this process, and on a server that sends no codes
(lakeFS's). An answer that is no error of ours, such as a proxy's page, is Unavailable, with what it
said in short.
"""

from collections.abc import Iterator
from typing import Final

import httpx
import msgspec

from lochan.errors import (
    AlreadyExists,
    Conflict,
    Corruption,
    Gone,
    Internal,
    InvalidInput,
    LochanError,
    NotFound,
    PermissionDenied,
    PredicateFailed,
    Refused,
    Throttled,
    Unauthenticated,
    Unavailable,
)
from lochan.shapes.errors import Error
from lochan.shapes.refs import MergeResult

_SHOWN: Final = 120
_FIRST_OF_SERVER: Final = 500
_LOCKED: Final = 423  # lakeFS's word for a race that was lost
_BY_STATUS: Final[dict[int, type[LochanError]]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: PermissionDenied,
    404: NotFound,
    405: InvalidInput,
    408: Unavailable,
    409: Conflict,
    410: Gone,
    412: PredicateFailed,
    413: InvalidInput,
    415: InvalidInput,
    416: InvalidInput,
    422: InvalidInput,
    _LOCKED: Conflict,
    429: Throttled,
    500: Internal,
    501: InvalidInput,
    503: Unavailable,
}
# Codes whose status is lakeFS's, and says another category than the server meant.
_TAKEN: Final = ("-exists", "already-set-up", "namespace-in-use")
_CONTENDED: Final = "contended"
_NO_RIGHT: Final = frozenset({"", "permission-denied", "invalid-signed-url", "foreign-origin"})


def _classes(of: type[LochanError] = LochanError) -> Iterator[type[LochanError]]:
    for found in of.__subclasses__():
        yield found
        yield from _classes(found)


# Those of lochan.errors alone: what else this process has imported is made in ways of its own.
_BY_CODE: Final = {
    found.default_code: found
    for found in _classes()
    if found is not Internal and found.__module__ == LochanError.__module__
}


def error_of(response: httpx.Response) -> LochanError:
    """Give the error that an answer tells of; its body has been read."""
    said = _said(response)
    if said is None:
        return _unreadable(response)
    found = _class_of(response.status_code, said.code)
    facts: dict[str, object] = {"status": response.status_code}
    if request_id := response.headers.get("x-request-id"):
        facts["request_id"] = request_id
    if found is Corruption:
        # Its own constructor words the message; this one is worded already.
        damaged = Corruption.__new__(Corruption)
        LochanError.__init__(damaged, said.message, code=said.code, **facts)
        damaged.reason, damaged.file, damaged.offset = said.message, "", 0
        return damaged
    return found(said.message, code=said.code or None, **facts)


def _said(response: httpx.Response) -> Error | None:
    try:
        return msgspec.json.decode(response.content, type=Error)
    except msgspec.DecodeError:
        return _merge_conflict(response)


def _merge_conflict(response: httpx.Response) -> Error | None:
    """Read the one error whose body is no Error: a merge that met a conflict."""
    try:
        msgspec.json.decode(response.content, type=MergeResult)
    except msgspec.DecodeError:
        return None
    message = "the merge met conflicts; look at the diff of both refs, or choose a strategy"
    return Error(message=message, code="merge-conflict")


def _class_of(status: int, code: str) -> type[LochanError]:
    if code in _BY_CODE:
        return _BY_CODE[code]
    if code.endswith(_TAKEN):
        return AlreadyExists
    if code == _CONTENDED:
        return Conflict
    found = _BY_STATUS.get(status, Internal if status >= _FIRST_OF_SERVER else InvalidInput)
    if found is PermissionDenied and code not in _NO_RIGHT:
        return Refused  # a rule of the lake
    return found


def _unreadable(response: httpx.Response) -> LochanError:
    said = " ".join(response.content[: 4 * _SHOWN].decode(errors="replace").split())[:_SHOWN]
    what = f"{response.request.method} {response.request.url.path}"
    message = (
        f"{response.request.url.host} answered {what} with status {response.status_code} and"
        f" {said!r}, which is no answer of a lake; check the address, and proxies in between"
    )
    kind = _BY_STATUS.get(response.status_code)
    if kind in {Unauthenticated, PermissionDenied, Throttled}:
        return kind(message, status=response.status_code)
    return Unavailable(message, code="unreadable-answer", status=response.status_code)
