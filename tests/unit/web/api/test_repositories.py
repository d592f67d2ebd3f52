# SPDX-License-Identifier: Apache-2.0
"""Repositories over REST: made, listed by right, deleted."""

import pytest

from lochan.model.access import Statement
from support.web import Api

LAKE, PLACE = "arn:lakefs:fs:::repository/", "arn:lakefs:fs:::namespace/"


def make(api: Api, name: str, **told: object) -> dict[str, object]:
    made = api.post("/repositories", json={"name": name, "storage_namespace": "", **told})
    assert made.status_code == 201, made.text
    found: dict[str, object] = made.json
    return found


def names(api: Api, **params: object) -> list[str]:
    return [each["id"] for each in api.get("/repositories", params=params).json["results"]]


def test_a_repository_is_made_with_its_default_branch_and_told_in_full(api: Api) -> None:
    made = make(api, "lake-1")
    assert made == api.get("/repositories/lake-1").json
    assert set(made) == {
        "id", "creation_date", "default_branch", "storage_id", "storage_namespace", "read_only",
    }  # fmt: skip
    assert (made["default_branch"], made["storage_id"], made["read_only"]) == ("main", "", False)
    assert str(made["storage_namespace"]).endswith("/objects/lake-1")
    assert api.get("/repositories/lake-1/branches/main").status_code == 200


def test_a_name_that_is_taken_is_a_conflict_and_a_namespace_in_use_a_wrong_request(
    api: Api,
) -> None:
    make(api, "lake-1", storage_namespace="local://here")
    told = {"name": "lake-1", "storage_namespace": "local://there"}
    assert api.post("/repositories", json=told).status_code == 409
    told = {"name": "lake-2", "storage_namespace": "local://here"}
    answer = api.post("/repositories", json=told)
    assert (answer.status_code, answer.json["code"]) == (400, "namespace-in-use")


@pytest.mark.parametrize("where", ["local:///etc", "s3://bucket/x", "mem://x", "local://../x"])
def test_rel_S22_a_repository_lies_only_where_the_server_was_told(api: Api, where: str) -> None:
    answer = api.post("/repositories", json={"name": "lake-1", "storage_namespace": where})
    assert answer.status_code == 400
    assert api.get("/repositories/lake-1").status_code == 404


def test_rel_S22_a_namespace_is_judged_by_its_one_spelling(api: Api) -> None:
    prefix = api.services.settings.namespace_prefix
    bob = api.user(
        "bob",
        Statement(effect="allow", action=("fs:*",), resource="*"),
        Statement(effect="deny", action=("fs:Attach*",), resource=f"{PLACE}{prefix}/secret*"),
    )
    told = {"name": "lake-1", "storage_namespace": "local://secret/"}
    assert bob.post("/repositories", json=told).status_code == 403
    told = {"name": "lake-1", "storage_namespace": "local://mine/"}
    assert bob.post("/repositories", json=told).status_code == 201


@pytest.mark.parametrize("name", ["La", "a/b", "UPPER", "-abc", "x" * 64])
def test_a_name_that_is_none_is_a_wrong_request(api: Api, name: str) -> None:
    answer = api.post("/repositories", json={"name": name, "storage_namespace": ""})
    assert answer.status_code == 400


def test_a_bare_repository_has_no_branch(api: Api) -> None:
    told = {"name": "bare", "storage_namespace": ""}
    assert api.post("/repositories", json=told, params={"bare": "true"}).status_code == 201
    assert api.get("/repositories/bare/branches").json["results"] == []


def test_sample_data_is_there_and_its_branch_protected(api: Api) -> None:
    make(api, "samples", sample_data=True, read_only=True)
    assert api.get("/repositories/samples").json["read_only"] is True
    rules = api.get("/repositories/samples/settings/branch_protection").json
    assert rules == [{"pattern": "main"}]
    log = api.get("/repositories/samples/refs/main/commits").json["results"]
    assert [each["message"] for each in log] == ["Add sample data", "Repository created"]
    diff = api.get("/repositories/samples/refs/main~1/diff/main", params={"delimiter": "/"}).json
    assert [each["path"] for each in diff["results"]] == ["README.md", "places.csv", "readings/"]


def test_pages_of_repositories_go_on_behind_the_last(api: Api) -> None:
    for name in ("aaa-1", "aaa-2", "bbb-1", "bbb-2"):
        make(api, name)
    page = api.get("/repositories", params={"amount": 3}).json["pagination"]
    assert page == {"has_more": True, "next_offset": "bbb-1", "results": 3, "max_per_page": 1000}
    page = api.get("/repositories", params={"after": "bbb-1"}).json["pagination"]
    assert page == {"has_more": False, "next_offset": "", "results": 1, "max_per_page": 1000}
    assert names(api, prefix="aaa") == ["aaa-1", "aaa-2"]
    assert names(api, search="-2") == ["aaa-2", "bbb-2"]
    assert names(api, amount=-1) == names(api, amount=0) == names(api)
    assert api.get("/repositories", params={"amount": 1001}).status_code == 400


def test_rel_S16_a_list_holds_what_the_caller_may_list_and_read(api: Api) -> None:
    for name in ("open-1", "open-2", "shut-1"):
        make(api, name)
    bob = api.user(
        "bob",
        Statement(effect="allow", action=("fs:ListRepositories",), resource="*"),
        Statement(effect="allow", action=("fs:ReadRepository",), resource=LAKE + "open-*"),
    )
    assert names(bob) == ["open-1", "open-2"]
    page = bob.get("/repositories", params={"amount": 2}).json["pagination"]
    assert (page["has_more"], page["next_offset"]) == (False, "")
    assert bob.get("/repositories/shut-1").status_code == 403
    assert names(api.user("eve")) == []
    assert api.nobody().get("/repositories").status_code == 401


def test_a_deleted_repository_is_gone_at_once(api: Api) -> None:
    make(api, "lake-1")
    assert api.get("/repositories/lake-1/branches").status_code == 200
    assert api.delete("/repositories/lake-1").status_code == 204
    assert api.get("/repositories/lake-1/branches").status_code == 404
    assert api.get("/repositories/lake-1").status_code == 404
    assert api.delete("/repositories/lake-1").status_code == 404


def test_a_read_only_repository_takes_changes_only_with_force(api: Api) -> None:
    make(api, "fixed", read_only=True)
    told = {"name": "dev", "source": "main"}
    assert api.post("/repositories/fixed/branches", json=told).status_code == 403
    told = {"name": "dev", "source": "main", "force": True}  # type: ignore[dict-item]
    assert api.post("/repositories/fixed/branches", json=told).status_code == 201
    assert api.delete("/repositories/fixed").status_code == 403
    assert api.delete("/repositories/fixed", params={"force": "true"}).status_code == 204


def test_metadata_of_a_repository_is_set_and_removed_key_by_key(api: Api) -> None:
    make(api, "lake-1")
    where = "/repositories/lake-1/metadata"
    assert api.get(where).json == {}
    assert api.post(where, json={"metadata": {"a": "1", "b": "2"}}).status_code == 201
    assert api.post(where, json={"metadata": {"b": "3"}}).status_code == 201
    assert api.delete(where, json={"keys": ["a"]}).status_code == 204
    assert api.get(where).json == {"b": "3"}
