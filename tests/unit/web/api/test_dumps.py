# SPDX-License-Identifier: Apache-2.0
"""Refs dumped and restored over REST."""

from typing import Any

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_tasks import commit, make_repository, put, settled

LAKE = "arn:lakefs:fs:::repository/lake-1"
REPOSITORY = "/repositories/lake-1"


def with_history(api: Api) -> str:
    """Make a repository with a commit and a tag; give the commit."""
    make_repository(api)
    put(api, REPOSITORY, "a", b"1")
    made = commit(api, REPOSITORY)
    told = {"id": "v1", "ref": "main"}
    assert api.post(f"{REPOSITORY}/tags", json=told).status_code == 201
    return made


def dumped(api: Api) -> dict[str, Any]:
    begun = api.post(f"{REPOSITORY}/dump")
    assert begun.status_code == 202
    status = settled(api, f"{REPOSITORY}/dump", task_id=begun.json["id"])
    assert status["id"] == begun.json["id"]
    refs: dict[str, Any] = status["refs"]
    return refs


def made_bare(api: Api) -> None:
    """Delete the repository and make a bare one over the same files."""
    namespace = api.get(REPOSITORY).json["storage_namespace"]
    api.services.lake.storage(namespace).objects.delete("_lakefs/dummy")  # nobody uses it any more
    assert api.delete(REPOSITORY, params={"force": "true"}).status_code == 204
    told = {"name": "lake-1", "storage_namespace": namespace}
    made = api.post("/repositories", json=told, params={"bare": "true"})
    assert made.status_code == 201, made.text


def test_a_dump_is_restored_into_a_bare_repository(api: Api) -> None:
    made = with_history(api)
    refs = dumped(api)
    made_bare(api)
    begun = api.post(f"{REPOSITORY}/restore", json=refs)
    assert begun.status_code == 202
    status = settled(api, f"{REPOSITORY}/restore", task_id=begun.json["id"])
    assert (status["done"], status.get("error")) == (True, None)
    assert api.get(f"{REPOSITORY}/branches/main").json["commit_id"] == made
    assert api.get(f"{REPOSITORY}/tags/v1").json["commit_id"] == made


def test_the_old_routes_answer_when_it_is_done(api: Api) -> None:
    made = with_history(api)
    answer = api.put(f"{REPOSITORY}/refs/dump")
    assert (answer.status_code, answer.json) == (201, dumped(api))
    made_bare(api)
    assert api.put(f"{REPOSITORY}/refs/restore", json=answer.json).status_code == 200
    assert api.get(f"{REPOSITORY}/branches/main").json["commit_id"] == made


def test_a_restore_over_refs_is_told_as_failed(api: Api) -> None:
    with_history(api)
    refs = dumped(api)
    begun = api.post(f"{REPOSITORY}/restore", json=refs)
    status = settled(api, f"{REPOSITORY}/restore", task_id=begun.json["id"])
    assert status["done"]
    assert "bare" in status["error"]
    assert api.put(f"{REPOSITORY}/refs/restore", json=refs).json["code"] == "not-bare"


@pytest.mark.parametrize("name", ["../../kv.db", "0", "z" * 64])
def test_rel_S21_what_is_no_metarange_id_is_refused(api: Api, name: str) -> None:
    make_repository(api)
    names = ("commits_meta_range_id", "tags_meta_range_id", "branches_meta_range_id")
    told = dict.fromkeys(names, name)
    assert api.post(f"{REPOSITORY}/restore", json=told).status_code == 400


def test_a_task_is_known_by_its_own_kind_alone(api: Api) -> None:
    with_history(api)
    begun = api.post(f"{REPOSITORY}/dump").json["id"]
    settled(api, f"{REPOSITORY}/dump", task_id=begun)
    assert api.get(f"{REPOSITORY}/restore", params={"task_id": begun}).status_code == 404
    assert api.get(f"{REPOSITORY}/dump", params={"task_id": "restore-refs"}).status_code == 404


@pytest.mark.parametrize("missing", ["fs:ListTags", "fs:ListBranches", "fs:ListCommits"])
def test_rel_S16_a_dump_needs_every_right_to_list(api: Api, missing: str) -> None:
    with_history(api)
    rights = {"fs:ListTags", "fs:ListBranches", "fs:ListCommits"} - {missing}
    bob = api.user("bob", Statement(effect="allow", action=tuple(rights), resource=LAKE))
    assert bob.post(f"{REPOSITORY}/dump").status_code == 403
    assert bob.put(f"{REPOSITORY}/refs/dump").status_code == 403
    assert api.nobody().post(f"{REPOSITORY}/dump").status_code == 401
