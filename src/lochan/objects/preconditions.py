# SPDX-License-Identifier: Apache-2.0
"""Decide whether a put may go ahead, for drivers that see the current version themselves."""

from lochan.errors import PredicateFailed
from lochan.objects.store import Always, IfAbsent, IfMatch, ObjectInfo, Precondition


def check_precondition(when: Precondition, current: ObjectInfo | None, address: str) -> None:
    """Raise PredicateFailed unless the current version is the one wanted."""
    match when:
        case Always():
            return
        case IfAbsent():
            if current is not None:
                raise PredicateFailed(f"there is an object {address} already")
        case IfMatch(etag):
            if current is None or current.etag != etag:
                raise PredicateFailed(f"{address} is not the version {etag}; read it again")
