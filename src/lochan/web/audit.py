# SPDX-License-Identifier: Apache-2.0
"""What is written down of who did what (S31): every change, and everything that was refused.

A line says one permission. A request that changes something has a line for each permission that
it used, `allowed`, or `failed` when nothing came of it; one that was refused has a line for what
was missing. Reading leaves no line: the log of requests has it.
"""

from typing import Final

from lochan.access.needed import Permission
from lochan.errors import PermissionDenied, Unauthenticated
from lochan.logs.audit import Result
from lochan.web.call import Call
from lochan.web.needs import names_of
from lochan.web.route import Route

_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def write_done(call: Call, route: Route) -> None:
    """Write down what was done, and what of it was refused."""
    if route.method not in _READING:
        for permission in call.granted:
            _write(call, permission, "allowed")
    for permission in call.refused:
        _write(call, permission, "denied")


def write_undone(call: Call, route: Route, error: Exception) -> None:
    """Write down what was refused, or tried in vain."""
    if isinstance(error, PermissionDenied | Unauthenticated):
        _write(call, _missing(call, route, error), "denied")
    elif route.method not in _READING:
        for permission in call.granted:
            _write(call, permission, "failed")


def _missing(call: Call, route: Route, error: PermissionDenied | Unauthenticated) -> Permission:
    """Say what was refused; to somebody who is not known, the route itself was."""
    action, resource = error.facts.get("action"), error.facts.get("resource")
    if isinstance(action, str) and isinstance(resource, str):
        return Permission(action, resource)
    names = names_of(route.needs)
    return Permission(names[0][0] if names else route.operation_id, call.request.path)


def _write(call: Call, permission: Permission, result: Result) -> None:
    who = call.principal.user if call.principal else ""
    call.services.audit.record(
        who, permission.action, permission.resource, result, address=call.address
    )
