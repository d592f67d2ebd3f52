# SPDX-License-Identifier: Apache-2.0
"""Errors in Java's words: the client raises the exception that it is told the name of.

    {"RemoteException": {"exception": ..., "javaClassName": ..., "message": ...}}

Statuses are WebHDFS's own: 400 for what is wrong in itself, 401, 403 for other failures of input
and output, 404, 500.
"""

from typing import Final, NamedTuple

import falcon

from lochan.errors import (
    AlreadyExists,
    Conflict,
    Gone,
    InvalidInput,
    LochanError,
    NotFound,
    PermissionDenied,
    PredicateFailed,
    Refused,
    Unauthenticated,
)
from lochan.web.errors import error_reply, status_of, unexpected
from lochan.web.hdfs.operation import DISARMED, told
from lochan.web.reply import Reply
from lochan.web.services import Services


class _Java(NamedTuple):
    status: int
    name: str


_FILE: Final = "org.apache.hadoop.fs."
_BY_CODE: Final = {
    "directory-not-empty": _Java(403, _FILE + "PathIsNotEmptyDirectoryException"),
    "is-a-directory": _Java(404, "java.io.FileNotFoundException"),
    "rename-across-branches": _Java(403, "java.io.IOException"),
    "rename-of-another-kind": _Java(403, "java.io.IOException"),
    "invalid-range": _Java(403, "java.io.IOException"),
    "not-implemented": _Java(400, "java.lang.UnsupportedOperationException"),
}
# From the narrowest class on.
_BY_CLASS: Final = (
    (NotFound, _Java(404, "java.io.FileNotFoundException")),
    (Gone, _Java(404, "java.io.FileNotFoundException")),
    (AlreadyExists, _Java(403, _FILE + "FileAlreadyExistsException")),
    (PredicateFailed, _Java(403, _FILE + "FileAlreadyExistsException")),
    (Conflict, _Java(403, "java.io.IOException")),
    (PermissionDenied, _Java(403, "org.apache.hadoop.security.AccessControlException")),
    (Refused, _Java(403, "org.apache.hadoop.security.AccessControlException")),
    (Unauthenticated, _Java(401, "java.lang.SecurityException")),
    (InvalidInput, _Java(400, "java.lang.IllegalArgumentException")),
)


def remote_exception(services: Services, request: falcon.Request, error: Exception) -> Reply:
    """Answer for whatever went wrong."""
    if isinstance(error, LochanError):
        java, message, headers = _java(error), error.message, error_reply(error).headers
    else:
        reply = unexpected(services, request, error)
        java, message = _Java(500, "java.io.IOException"), _message(reply)
        headers = reply.headers
    said = {
        "exception": java.name.rpartition(".")[2],
        "javaClassName": java.name,
        "message": message,
    }
    body = told({"RemoteException": said}).body
    return Reply(body, java.status, {**headers, **DISARMED}, content_type="")


def _java(error: LochanError) -> _Java:
    found = _BY_CODE.get(error.code)
    if found is not None:
        return found
    for kind, java in _BY_CLASS:
        if isinstance(error, kind):
            return java
    if error.retryable:
        return _Java(status_of(error), "org.apache.hadoop.ipc.RetriableException")
    return _Java(500, "java.io.IOException")


def _message(reply: Reply) -> str:
    return str(getattr(reply.body, "message", "something broke inside the server"))
