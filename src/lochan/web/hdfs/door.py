# SPDX-License-Identifier: Apache-2.0
"""From an address below /webhdfs/v1 and its `op` to the operation that serves it.

All operations share one address, so Falcon's router cannot tell them apart: this one asks the
method and `op`. Each has a route of its own all the same, checked like any other when the server
starts, with its own line in the page of permissions.
"""

from collections.abc import Callable

import falcon
from falcon.util.uri import parse_query_string

from lochan.errors import InvalidInput
from lochan.web.call import Call
from lochan.web.check_routes import check_routes
from lochan.web.hdfs import OPERATIONS
from lochan.web.hdfs.failure import remote_exception
from lochan.web.hdfs.operation import PREFIX, Operations
from lochan.web.hdfs.place import Place
from lochan.web.needs import SIGNED_IN
from lochan.web.reply import Reply
from lochan.web.serve_call import Responder, responder
from lochan.web.services import Services

Sink = Callable[..., None]
_OTHER = Operations()


@_OTHER.add("GET", "", needs=SIGNED_IN)
def refuse_operation(call: Call) -> Reply:
    """Refuse what this file system does not do."""
    method, name = operation_of(call.request)
    message = f"{method} with op={name!r} is not an operation of this file system"
    raise InvalidInput(message, code="not-implemented")


def door(services: Services) -> Sink:
    """Make what serves the file system."""
    serving: dict[tuple[str, str], Responder] = {}
    for operation in OPERATIONS:
        check_routes([operation.route])
        key = operation.route.method, operation.name
        serving[key] = responder(services, operation.route, remote_exception)
    (other,) = (responder(services, one.route, remote_exception) for one in _OTHER)

    def serve(request: falcon.Request, response: falcon.Response, **_: object) -> None:
        respond = serving.get(operation_of(request), other)
        place = Place.of(request.path.removeprefix(PREFIX))
        respond(request, response, repository=place.repository, ref=place.ref, path=place.path)

    return serve


def operation_of(request: falcon.Request) -> tuple[str, str]:
    """Give the method, and the `op` in capital letters."""
    found = parse_query_string(request.query_string, csv=False).get("op", "")
    return request.method, found.upper() if isinstance(found, str) else ""
