# SPDX-License-Identifier: Apache-2.0
"""Errors as answers: status, one line for people, a stable code for programs."""

from typing import Final

import falcon

from lochan.errors import LochanError
from lochan.shapes.errors import Error
from lochan.web.reply import Reply
from lochan.web.services import Services

RETRY_AFTER_S: Final = 1
# Codes whose HTTP status says more than their category's.
_STATUS: Final = {
    "namespace-in-use": 400,  # lakeFS's status, though a name is taken
    "body-stalled": 408,
    "body-too-large": 413,
    "unsupported-media-type": 415,
    "invalid-range": 416,
    "contended": 429,  # others always came first; lakeFS's word is "too many attempts"
    "too-many-attempts": 429,
    "too-many-requests": 429,
    "not-implemented": 501,
}
# What any route may answer besides what it declares.
COMMON_STATUSES: Final = (400, 401, 403, 404, 408, 409, 410, 412, 413, 415, 429, 500, 501, 503)


def status_of(error: LochanError) -> int:
    """Give the HTTP status of an error."""
    return _STATUS.get(error.code, error.status)


def error_reply(error: LochanError) -> Reply:
    """Answer with an error."""
    status = status_of(error)
    headers: dict[str, str] = {}
    if error.retryable or status in {429, 503}:
        headers["retry-after"] = str(error.facts.get("retry_after", RETRY_AFTER_S))
    if status == 401:  # noqa: PLR2004 - the one status that demands a header
        headers["www-authenticate"] = 'Basic realm="lochan"'
    return Reply(Error(message=error.message, code=error.code), status, headers)


def failure(services: Services, request: falcon.Request, error: Exception) -> Reply:
    """Answer for whatever went wrong."""
    if isinstance(error, LochanError):
        return error_reply(error)
    return unexpected(services, request, error)


def unexpected(services: Services, request: falcon.Request, error: Exception) -> Reply:
    """Answer for a bug of ours: the log has the traceback, the caller the request's id."""
    services.log.error("unexpected error", exc_info=error, path=request.path)
    message = "something broke inside the server; its log has the details under this request's id"
    return Reply(Error(message=message, code="internal"), 500)
