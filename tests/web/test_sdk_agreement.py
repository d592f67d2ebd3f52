# SPDX-License-Identifier: Apache-2.0
"""The routes, the served document and lakeFS's own client say the same of addresses and parameters.

What the client would send is read from its source: one method an operation.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import fields
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from lochan.web.api import ROUTES
from lochan.web.application import PREFIX
from lochan.web.route import Content, Route
from support.web import open_api
from support.wire_shapes import sdk_operations

ADDRESS = re.compile(r"call_api\(\s*'([^']+)', '([A-Z]+)'")
IN_PATH = re.compile(r"_path_params\['(\w+)'\]")
IN_QUERY = re.compile(r"_query_params\.append\(\('(\w+)'")
IN_HEADER = re.compile(r"_header_params\['([\w-]+)'\] = _params\['")
SUCCESS = re.compile(r"'(2\d\d)': ")
ENDED = "_with_http_info"


@dataclass(frozen=True)
class Operation:
    """What lakeFS's client sends for one of its methods."""

    method: str
    path: str
    in_path: frozenset[str]
    in_query: frozenset[str]
    in_header: frozenset[str]
    has_body: bool
    success: frozenset[str]


def operations() -> Iterator[tuple[str, Operation]]:
    for name, method in sdk_operations().items():
        if not name.endswith(ENDED):
            continue
        source = inspect.getsource(method)
        found = ADDRESS.search(source)
        assert found is not None, name
        yield (
            name.removesuffix(ENDED),
            Operation(
                method=found[2],
                path=found[1],
                in_path=frozenset(IN_PATH.findall(source)),
                in_query=frozenset(IN_QUERY.findall(source)),
                in_header=frozenset(IN_HEADER.findall(source)),
                has_body="_body_params = _params" in source or "_files['" in source,
                success=frozenset(SUCCESS.findall(source)),
            ),
        )


THEIRS = dict(operations())
OURS = {(route.method, route.path): route for route in ROUTES}
SERVED = {
    name: (sent, OURS[sent.method, sent.path])
    for name, sent in THEIRS.items()
    if (sent.method, sent.path) in OURS and 501 not in OURS[sent.method, sent.path].answers
}
# What we heed beside what lakeFS's client sends.
OWN_QUERY = {"head_object": {"presign"}}
OWN_ROUTES = re.compile(
    r"/repositories/\{repository\}/(pfs/[a-z-]+|clocks/[a-z]+|presigned"
    r"|gc/(?:runs|undo)|storage_report|branches/\{branch\}/objects/(?:rename|link)"
    r"|refs/\{ref\}/provenance)|/auth/capabilities"
    r"|/pipelines(?:/\{pipeline\}(?:/[a-z]+)?)?|/pipeline-(?:graph|checks)"
    r"|/jobs/\{job\}(?:/[a-z]+(?:/\{shard\})?)?|/job-sets/\{job_set\}"
)


def parameters(route: Route) -> set[str]:
    return {field.encode_name for field in fields(route.query)} if route.query else set()


def spelled(name: str) -> str:
    """Spell an operation as the client's methods are."""
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def test_every_operation_of_lakefs_has_a_route() -> None:
    assert len(THEIRS) > 120
    missing = [name for name, sent in THEIRS.items() if (sent.method, sent.path) not in OURS]
    assert missing == []


def test_every_route_is_lakefs_s_or_known_as_our_own() -> None:
    known = {(sent.method, sent.path) for sent in THEIRS.values()}
    own = [path for method, path in OURS if (method, path) not in known]
    assert [path for path in own if not OWN_ROUTES.fullmatch(path)] == []


@pytest.mark.parametrize("name", SERVED)
def test_an_operation_takes_what_lakefs_s_client_sends(name: str) -> None:
    sent, route = SERVED[name]
    assert spelled(route.operation_id) == name
    assert set(re.findall(r"\{(\w+)\}", route.path)) == sent.in_path
    assert parameters(route) - OWN_QUERY.get(name, set()) == sent.in_query
    assert {header.lower() for header in sent.in_header} <= {one.lower() for one in route.headers}
    assert (route.body is not Content.NONE) == sent.has_body
    if sent.success:  # the client names none where nothing comes back
        assert {str(status) for status in route.answers if status < 300} == sent.success


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:  # noqa: ANN401 - JSON
    with open_api(tmp_path_factory.mktemp("document") / "lake") as api:
        return api.nobody().get("/openapi.json", prefix="").json


def test_the_document_is_openapi_3_1(served: dict[str, Any]) -> None:
    assert served["openapi"] == "3.1.0"
    OPENAPI_31_VALIDATOR.validate(served)
    ids = [one["operationId"] for path in served["paths"].values() for one in path.values()]
    assert len(ids) == len(set(ids))


def test_the_document_refers_to_nothing_that_is_not_in_it(served: dict[str, Any]) -> None:
    used = set(re.findall(r"#/components/schemas/(\w+)", str(served)))
    assert used <= set(served["components"]["schemas"])


def test_the_document_and_the_routes_agree(served: dict[str, Any]) -> None:
    assert served["servers"] == [{"url": PREFIX}]
    described = {
        (method.upper(), path): operation
        for path, methods in served["paths"].items()
        for method, operation in methods.items()
    }
    assert described.keys() == OURS.keys()
    for address, operation in described.items():
        route = OURS[address]
        said = {(one["in"], one["name"]) for one in operation["parameters"]}
        expected = {("path", name) for name in re.findall(r"\{(\w+)\}", route.path)}
        expected |= {("query", name) for name in parameters(route)}
        expected |= {("header", name) for name in route.headers}
        assert said == expected
        assert {str(status) for status in route.answers} <= operation["responses"].keys()
        assert ("requestBody" in operation) == (route.body is not Content.NONE)
