# SPDX-License-Identifier: Apache-2.0
"""All routes joined into one Falcon application (WSGI).

A route that declares no permission cannot be written down (`Routes.add` demands it); one that asks
for what nobody can have, or two at one address and method, stop the start (`check_routes`). Unknown
addresses below the API's prefix are answered in the API's own form.
"""

from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Final, cast

import falcon
import falcon.routing
import msgspec

from lochan.errors import NotFound
from lochan.shapes.errors import Error
from lochan.web import token
from lochan.web.api import ROUTES
from lochan.web.at_once import AtOnce
from lochan.web.check_routes import check_routes
from lochan.web.edges import edges
from lochan.web.environ import Wsgi
from lochan.web.errors import error_reply, failure, unexpected
from lochan.web.hdfs.door import door
from lochan.web.hdfs.operation import PREFIX as HDFS
from lochan.web.openapi import document
from lochan.web.proxies import Proxies
from lochan.web.reply import JSON, Reply
from lochan.web.route import Route
from lochan.web.serve_call import Failed, responder
from lochan.web.services import Services
from lochan.web.told import Told

PREFIX: Final = "/api/v1"


def new_application(services: Services) -> Told:
    """Make the application that serves a lake, and writes down what it does."""
    trusted = services.settings.trusted_proxies
    application = falcon.App(middleware=[Proxies(trusted)] if trusted else [])
    application.req_options.strip_url_path_trailing_slash = True
    application.set_error_serializer(_serialized)
    application.add_error_handler(Exception, partial(_broken, services))
    described = partial(_described, services.version)
    for prefix, routes in ((PREFIX, ROUTES), ("", edges(described))):
        _register(application, services, routes, prefix)
    _register(application, services, token.ROUTES, "", token.token_failure)
    application.add_sink(_nowhere, "/")
    application.add_sink(door(services), HDFS)  # the one that is added last is asked first
    return Told(cast("Wsgi", application), services, AtOnce(services, ROUTES, PREFIX))


@cache
def _described(version: str) -> bytes:
    """Give the document, which is made when it is first asked for: embedded lakes never are."""
    return msgspec.json.encode(document(ROUTES, prefix=PREFIX, version=version))


def _register(
    application: falcon.App[falcon.Request, falcon.Response],
    services: Services,
    routes: Iterable[Route],
    prefix: str,
    failed: Failed = failure,
) -> None:
    check_routes(routes)
    at: dict[str, dict[str, Callable[..., None]]] = {}
    for route in routes:
        methods = at.setdefault(_positional(route.path), {})
        methods[f"on_{route.method.lower()}"] = staticmethod(responder(services, route, failed))
    for path, methods in at.items():
        resource = type("Resource", (), methods)()
        application.add_route(prefix + path, resource)


def _positional(path: str) -> str:
    """Name a path's fields by their places.

    Falcon wants one name for all fields at one place; lakeFS has refs/{ref}/commits and
    refs/{leftRef}/diff. The responder gives them their own names again.
    """
    parts = path.split("/")
    places = (f"{{at_{i}}}" if part.startswith("{") else part for i, part in enumerate(parts))
    return "/".join(places)


def _broken(
    services: Services,
    req: falcon.Request,
    resp: falcon.Response,
    error: Exception,
    _: object,
) -> None:
    """Answer for a bug outside of any handler."""
    if isinstance(error, falcon.HTTPError | falcon.HTTPStatus):
        raise error  # Falcon's own; it answers by itself
    _answer(resp, unexpected(services, req, error))


def _answer(resp: falcon.Response, reply: Reply) -> None:
    resp.status = reply.status or 500
    resp.content_type = JSON
    resp.data = msgspec.json.encode(reply.body) + b"\n"


def _nowhere(req: falcon.Request, resp: falcon.Response, **_: object) -> None:
    error = NotFound(f"there is nothing at {req.path}", code="no-such-address")
    _answer(resp, error_reply(error))


def _serialized(
    request: falcon.Request, response: falcon.Response, error: falcon.HTTPError
) -> None:
    """Answer in our own form what Falcon itself refuses: a wrong method, a bad header."""
    message = error.description or f"{error.title}: {request.method} {request.path}"
    response.content_type = JSON
    response.data = msgspec.json.encode(Error(message=message, code="refused-by-http")) + b"\n"
