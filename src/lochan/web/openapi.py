# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI document of all routes, made from their declarations.

`x-lochan-permissions` lists what an operation asks for: action and resource, as in a policy.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec
import msgspec.json

from lochan.shapes.errors import Error
from lochan.web.errors import COMMON_STATUSES
from lochan.web.needs import ANYBODY, names_of
from lochan.web.route import Content, Json, Route, Shape

VERSION: Final = "3.1.0"
_TEMPLATE: Final = "#/components/schemas/{name}"
_PHRASES: Final = {
    200: "done",
    201: "made",
    202: "begun",
    204: "done, nothing to tell",
    206: "a part",
    302: "elsewhere",
    304: "not changed",
    400: "the request is wrong",
    401: "not signed in",
    403: "not allowed",
    404: "not there",
    408: "the body did not come in time",
    409: "a conflict with what is there",
    410: "gone, or going",
    412: "a condition does not hold",
    413: "too large",
    415: "not the kind of body that is understood",
    416: "no such range",
    429: "too many attempts",
    500: "broken",
    501: "not there yet",
    503: "busy; try again",
}


def document(routes: Iterable[Route], *, prefix: str, version: str) -> dict[str, Any]:
    """Describe all routes."""
    routes = list(routes)
    shapes = _shapes(routes)
    schemas, components = msgspec.json.schema_components(shapes, ref_template=_TEMPLATE)
    schema_of = dict(zip(shapes, schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(
            route, schema_of, components
        )
    return {
        "openapi": VERSION,
        "info": {
            "title": "Lochan",
            "version": version,
            "description": "Version control for a data lake, with data pipelines built in.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": prefix}],
        "security": [{"basic": []}, {"bearer": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic"},
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "internal_auth_session"},
            },
        },
    }


def _shapes(routes: list[Route]) -> list[Json]:
    found: dict[Json, None] = {Error: None}
    for route in routes:
        for shape in (*route.answers.values(), route.body, route.query):
            if shape is not None and not isinstance(shape, Content):
                found[shape] = None
    return list(found)


def _operation(
    route: Route, schema_of: dict[Json, Any], components: dict[str, Any]
) -> dict[str, Any]:
    summary, _, rest = (route.handler.__doc__ or "").strip().partition("\n")
    operation: dict[str, Any] = {
        "operationId": route.operation_id,
        "tags": [route.tag],
        "summary": summary,
        "description": " ".join(rest.split()),
        "parameters": [
            *_path_parameters(route),
            *_query_parameters(route, components),
            *_header_parameters(route),
        ],
        "responses": _responses(route, schema_of),
        "x-lochan-permissions": [
            {"action": action, "resource": resource} for action, resource in names_of(route.needs)
        ],
    }
    if route.needs is ANYBODY:
        operation["security"] = []
    if route.body is not Content.NONE:
        operation["requestBody"] = {
            "required": not (route.body_optional or isinstance(route.body, Content)),
            "content": _content(route.body, schema_of),
        }
    return operation


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in names
    ]


def _query_parameters(route: Route, components: dict[str, Any]) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    schema = components.pop(route.query.__name__, None) or _own_schema(route.query)
    required = set(schema.get("required", ()))
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "description": field.get("description", ""),
            "schema": {key: value for key, value in field.items() if key != "description"},
        }
        for name, field in schema["properties"].items()
    ]


def _own_schema(shape: type[msgspec.Struct]) -> dict[str, Any]:
    _, found = msgspec.json.schema_components([shape], ref_template=_TEMPLATE)
    return dict(found[shape.__name__])


def _header_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "header", "description": text, "schema": {"type": "string"}}
        for name, text in route.headers.items()
    ]


def _responses(route: Route, schema_of: dict[Json, Any]) -> dict[str, Any]:
    error = _content(Error, schema_of)
    found: dict[str, Any] = {
        str(status): {"description": _PHRASES[status], "content": error}
        for status in COMMON_STATUSES
    }
    for status, shape in route.answers.items():
        answer: dict[str, Any] = {"description": _PHRASES[status]}
        if shape is not Content.NONE:
            answer["content"] = _content(shape, schema_of)
        found[str(status)] = answer
    return dict(sorted(found.items()))


def _content(shape: Shape, schema_of: dict[Json, Any]) -> dict[str, Any]:
    if isinstance(shape, Content):
        kind = {"type": "string"}
        if shape is Content.OCTETS:
            kind["format"] = "binary"
        return {shape.value: {"schema": kind}}
    return {"application/json": {"schema": schema_of[shape]}}
