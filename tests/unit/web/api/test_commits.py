# SPDX-License-Identifier: Apache-2.0
"""Commits over REST: made, dated, looked at by any ref."""

import pytest

from lochan.access.attachments import attach_policy_to_user
from lochan.access.credentials import create_credentials
from lochan.access.policies import create_policy
from lochan.access.users import create_user
from lochan.model.access import Statement
from support.web import Api
from support.web_lakes import WebLake

COMMITS = "/branches/main/commits"


@pytest.fixture
def lake(api: Api) -> WebLake:
    return WebLake.made(api)


def test_a_commit_is_told_in_full_and_signed_by_its_user(lake: WebLake) -> None:
    first = lake.head()
    lake.put("main", "a")
    made = lake.post(COMMITS, {"message": "add a", "metadata": {"k": "v"}})
    assert made.status_code == 201
    assert set(made.json) == {
        "id", "parents", "committer", "message", "creation_date", "meta_range_id", "metadata",
        "generation", "version",
    }  # fmt: skip
    told = made.json
    assert (told["message"], told["committer"], told["metadata"]) == ("add a", "admin", {"k": "v"})
    assert (told["parents"], told["generation"], told["version"]) == ([first["id"]], 2, 1)
    assert first["committer"] == "admin"


def test_a_commit_is_found_by_any_ref(lake: WebLake) -> None:
    first = lake.head()
    lake.commit("main")
    for ref in ("main~1", "main^1", first["id"], first["id"][:10], "main%5E"):
        assert lake.get(f"/commits/{ref}").json == first
    assert lake.get("/commits/nowhere").status_code == 404
    assert lake.get("/commits/main~x").status_code == 400


def test_a_commit_without_change_is_refused_unless_it_may_be_empty(lake: WebLake) -> None:
    answer = lake.post(COMMITS, {"message": "nothing"})
    assert (answer.status_code, answer.json["code"]) == (400, "no-changes")
    assert lake.post(COMMITS, {"message": "nothing", "allow_empty": True}).status_code == 201


def test_a_commit_has_the_date_that_it_is_given(lake: WebLake) -> None:
    assert lake.commit("main", date=1_000_000_000)["creation_date"] == 1_000_000_000
    assert lake.commit("main", date=0)["creation_date"] == 0
    assert lake.commit("main")["creation_date"] > 1_700_000_000
    assert lake.post(COMMITS, {"message": "x", "date": 2**60}).status_code == 400


def test_a_tree_is_committed_as_it_is_over_a_clean_branch(lake: WebLake) -> None:
    lake.put("main", "a")
    tree = lake.commit("main")["meta_range_id"]
    lake.put("main", "b")
    dirty = lake.post(COMMITS, {"message": "back"}, source_metarange=tree)
    assert (dirty.status_code, dirty.json["code"]) == (400, "dirty-branch")
    lake.commit("main")
    made = lake.post(COMMITS, {"message": "back"}, source_metarange=tree)
    assert (made.status_code, made.json["meta_range_id"]) == (201, tree)
    nowhere = lake.post(COMMITS, {"message": "x"}, source_metarange="ab" * 32)
    assert nowhere.status_code == 400
    assert lake.post(COMMITS, {"message": "x"}, source_metarange="../x").status_code == 400


def test_a_protected_branch_takes_no_commit(lake: WebLake) -> None:
    lake.put("main", "a")
    lake.post("/branch_protection", {"pattern": "main"})
    assert lake.post(COMMITS, {"message": "x"}).status_code == 403


def test_a_commit_record_from_elsewhere_is_not_taken_by_itself(lake: WebLake) -> None:
    told = {
        "commit_id": "ab" * 32, "version": 1, "committer": "x", "message": "x",
        "metarange_id": "", "creation_date": 0, "parents": [], "generation": 1,
    }  # fmt: skip
    answer = lake.post("/commits", told)
    assert (answer.status_code, answer.json["code"]) == (501, "not-implemented")


def test_a_committer_is_named_by_e_mail_address_where_there_is_one(lake: WebLake) -> None:
    access = lake.api.services.access
    create_user(access, "ada", email="ada@example.org")
    create_policy(access, "all", [Statement(effect="allow", action=("fs:*",), resource="*")])
    attach_policy_to_user(access, "ada", "all")
    ada = WebLake(Api(lake.api.services, create_credentials(access, "ada")))
    assert ada.commit("main")["committer"] == "ada@example.org"
    ada.branch("dev", "main~1")
    assert ada.merge("main", "dev").status_code == 200
    assert ada.head("dev")["committer"] == "ada@example.org"
