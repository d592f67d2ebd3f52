# SPDX-License-Identifier: Apache-2.0
"""deleteObject and deleteObjects: each key by its own right."""

import pytest

from lochan.operations.repositories import set_read_only
from support.object_routes import OBJECT, Objects, allow, deny
from support.web import Api


@pytest.fixture
def objects(api: Api) -> Objects:
    made = Objects.made(api)
    for path in ("a/1", "a/2", "b/1"):
        made.put(path)
    return made


def test_an_object_is_deleted_once_and_a_second_time_is_no_error(objects: Objects) -> None:
    for _ in range(2):
        answer = objects.api.delete(f"{objects.branch}/objects", params={"path": "a/1"})
        assert (answer.status_code, answer.content) == (204, b"")
    assert objects.paths() == ["a/2", "b/1"]


def test_several_are_deleted_at_once(objects: Objects) -> None:
    paths = ["a/1", "a/2", "nothing"]
    answer = objects.api.post(f"{objects.branch}/objects/delete", json={"paths": paths})
    assert (answer.status_code, answer.json) == (200, {"errors": []})
    assert objects.paths() == ["b/1"]


def test_rel_GHSA_28q9_of_many_only_those_go_that_the_caller_may_delete(objects: Objects) -> None:
    some = objects.as_user(
        "ann",
        allow("fs:DeleteObject", on=OBJECT + "a/*"),
        deny("fs:DeleteObject", on=OBJECT + "a/2"),
    )
    paths = ["a/1", "a/2", "b/1"]
    answer = some.api.post(f"{some.branch}/objects/delete", json={"paths": paths})
    assert answer.status_code == 200
    refused = [(error["path"], error["status_code"]) for error in answer.json["errors"]]
    assert refused == [("a/2", 403), ("b/1", 403)]
    assert objects.paths() == ["a/2", "b/1"]


def test_a_path_that_is_too_long_spoils_nothing_for_the_others(objects: Objects) -> None:
    paths = ["a/1", "ü" * 600]
    answer = objects.api.post(f"{objects.branch}/objects/delete", json={"paths": paths})
    assert [error["status_code"] for error in answer.json["errors"]] == [400]
    assert objects.paths() == ["a/2", "b/1"]


def test_rel_S18_more_than_a_thousand_are_refused(objects: Objects) -> None:
    paths = [f"a/{number}" for number in range(1001)]
    answer = objects.api.post(f"{objects.branch}/objects/delete", json={"paths": paths})
    assert answer.status_code == 400
    assert len(objects.paths()) == 3


def test_a_read_only_repository_lets_go_only_of_what_is_forced(objects: Objects) -> None:
    services = objects.api.services
    set_read_only(services.lake, services.repositories.fresh("lake"), read_only=True)
    at, body = f"{objects.branch}/objects/delete", {"paths": ["a/1"]}
    assert objects.api.post(at, json=body).status_code == 403
    assert objects.api.post(at, json=body, params={"force": "true"}).status_code == 200
    assert objects.paths() == ["a/2", "b/1"]
