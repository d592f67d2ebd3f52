# SPDX-License-Identifier: Apache-2.0
"""From a request to its answer: authenticate, validate, permit, handle, write down, encode.

The order is a rule. Who is not known learns nothing of what is wrong with the request, and who is
not allowed nothing of what is there.
"""

from collections.abc import Callable
from typing import Any

import falcon
import msgspec

from lochan.errors import InvalidInput
from lochan.web.audit import write_done, write_undone
from lochan.web.authenticate import authenticated
from lochan.web.body import read_whole
from lochan.web.call import Call
from lochan.web.errors import failure
from lochan.web.needs import ANYBODY, Each, Open, filler
from lochan.web.query import query_reader, require_text
from lochan.web.reply import JSON, Reply
from lochan.web.route import Content, Route
from lochan.web.services import Services
from lochan.web.told import SEEN, Seen

_encoder = msgspec.json.Encoder()

Responder = Callable[..., None]
Failed = Callable[[Services, falcon.Request, Exception], Reply]


def responder(services: Services, route: Route, failed: Failed = failure) -> Responder:
    """Make what Falcon calls for one route; `failed` puts an error in the edge's own form."""
    query_of = query_reader(route.query) if route.query is not None else None
    body_of = _body_reader(services, route)
    fields = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    needed = None if isinstance(route.needs, Open | Each) else filler(route.needs, fields)

    def respond(request: falcon.Request, response: falcon.Response, **places: str) -> None:
        seen: Seen = request.env[SEEN]
        seen.route = route
        call = Call(services, request, dict(zip(fields, places.values(), strict=True)))
        try:
            seen.principal = call.principal = authenticated(services, request)
            if route.needs is not ANYBODY:
                call.user  # noqa: B018 - refuses whom nobody knows, before anything is read
            if call.principal is not None:
                services.admission.admit(call.principal.user)
            require_text(request.path)
            if query_of is not None:
                call.query = query_of(request.query_string)
            if body_of is not None:
                call.body = body_of(request)
            if needed is not None:
                call.require(needed(call))
            answer = route.handler(call)
            write_done(call, route)
        except Exception as error:  # noqa: BLE001 - nobody above would tell the caller anything
            write_undone(call, route, error)
            answer = failed(services, request, error)
        _write(response, route, answer)

    return respond


def _body_reader(services: Services, route: Route) -> Callable[[falcon.Request], Any] | None:
    if isinstance(route.body, Content):
        return None
    decoder = msgspec.json.Decoder(route.body)
    most, most_s = int(services.settings.limits.json_body), services.settings.limits.body_seconds
    monotonic = services.lake.environment.monotonic

    def read(request: falcon.Request) -> Any:  # noqa: ANN401 - the shape is the route's
        data = read_whole(request.env["wsgi.input"], most, most_s, monotonic)
        if len(data) > most:
            raise InvalidInput(f"the body is larger than {most} bytes", code="body-too-large")
        if not data and route.body_optional:
            data = b"{}"
        elif JSON not in (request.content_type or ""):
            message = f"the body must be {JSON}; set the content-type header"
            raise InvalidInput(message, code="unsupported-media-type")
        try:
            return decoder.decode(data)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidInput(f"the body is wrong: {error}") from error

    return read


def _write(response: falcon.Response, route: Route, answer: object) -> None:
    reply = answer if isinstance(answer, Reply) else Reply(answer)  # type: ignore[arg-type]
    status = reply.status or route.status
    response.status = status
    for name, value in reply.headers.items():
        # A cookie may come beside others; Falcon wants that said.
        (response.append_header if name == "set-cookie" else response.set_header)(name, value)
    if reply.chunks is not None:
        response.content_type = reply.content_type
        response.stream = reply.chunks
        if reply.length is not None:
            response.content_length = reply.length
    elif reply.body is None:
        response.data = b""
    elif isinstance(reply.body, bytes):
        response.content_type = reply.content_type
        response.data = reply.body
    else:
        response.content_type = JSON
        response.set_header("x-content-type-options", "nosniff")
        response.data = _encoder.encode(reply.body) + b"\n"
