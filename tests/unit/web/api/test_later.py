# SPDX-License-Identifier: Apache-2.0
"""Every operation of lakeFS's own client is served, or says what it waits for."""

import inspect
import re
from collections.abc import Iterator
from typing import NamedTuple

import lakefs_sdk.api as sdk
import pytest

from lochan.web.api import ROUTES, later
from lochan.web.needs import ANYBODY
from support.web import Api


class Operation(NamedTuple):
    """What the client calls."""

    name: str
    method: str
    path: str


CALLED = re.compile(r"call_api\(\s*'([^']+)', '(\w+)'")


def operations() -> Iterator[Operation]:
    """Read the operations out of the client's code."""
    for name, kind in inspect.getmembers(sdk, inspect.isclass):
        if not name.endswith("Api"):
            continue
        for method, function in inspect.getmembers(kind, inspect.isfunction):
            if method.endswith("_with_http_info"):
                found = CALLED.search(inspect.getsource(function))
                assert found is not None, method
                yield Operation(method.removesuffix("_with_http_info"), found[2], found[1])


def unnamed(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


OPERATIONS = sorted(set(operations()))
SERVED = {(route.method, unnamed(route.path)): route for route in ROUTES}


def test_the_client_has_its_operations() -> None:
    assert len(OPERATIONS) > 120


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_has_a_route_of_its_name(operation: Operation) -> None:
    route = SERVED[operation.method, unnamed(operation.path)]
    first, *rest = operation.name.split("_")
    assert route.operation_id == first + "".join(word.capitalize() for word in rest)


@pytest.mark.parametrize("waiting", later.LATER, ids=lambda waiting: waiting.name)
def test_what_waits_is_an_operation_of_the_client(waiting: later.Later) -> None:
    assert Operation(waiting.name, waiting.method, waiting.path) in OPERATIONS


def test_what_waits_answers_501_with_what_it_waits_for(api: Api) -> None:
    for waiting in later.LATER:
        path = re.sub(r"\{\w+\}", "some", waiting.path)
        answer = api.ask(waiting.method, path, json={"anything": 1})
        assert answer.status_code == 501, waiting
        assert waiting.waits_for in answer.json["message"]
        assert answer.json["code"] == "not-implemented"


def test_rel_S16_what_waits_is_refused_to_who_will_not_be_allowed(api: Api) -> None:
    bob = api.user("bob")
    for waiting in later.LATER:
        path = re.sub(r"\{\w+\}", "some", waiting.path)
        is_open = waiting.needs is ANYBODY
        assert bob.ask(waiting.method, path).status_code == (501 if is_open else 403), waiting
        assert api.nobody().ask(waiting.method, path).status_code == (501 if is_open else 401)
