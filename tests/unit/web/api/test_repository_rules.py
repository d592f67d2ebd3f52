# SPDX-License-Identifier: Apache-2.0
"""Branch protection and retention over REST: settings guarded by ETags, and the older routes."""

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_lakes import HERE, WebLake

PROTECTION = HERE + "/settings/branch_protection"
OLD_PROTECTION = HERE + "/branch_protection"
RETENTION = HERE + "/settings/gc_rules"
OLD_RETENTION = HERE + "/gc/rules"
MAIN, RELEASES = {"pattern": "main"}, {"pattern": "release-*"}
RULES = {"default_retention_days": 21, "branches": [{"branch_id": "main", "retention_days": 28}]}


@pytest.fixture
def admin(api: Api) -> Api:
    return WebLake.made(api).api


def test_rules_are_replaced_only_if_they_are_those_that_were_read(admin: Api) -> None:
    none = admin.get(PROTECTION)
    assert (none.status_code, none.json, none.headers["etag"]) == (200, [], "")
    match = {"if-match": ""}
    assert admin.put(PROTECTION, json=[MAIN], headers=match).status_code == 204
    assert admin.put(PROTECTION, json=[RELEASES], headers=match).status_code == 412
    tag = admin.get(PROTECTION).headers["etag"]
    assert admin.put(PROTECTION, json=[RELEASES], headers={"if-match": "0" * 64}).status_code == 412
    match = {"if-match": f'"{tag}"'}
    assert admin.put(PROTECTION, json=[RELEASES, MAIN], headers=match).status_code == 204
    found = admin.get(PROTECTION)
    assert found.json == [MAIN, RELEASES]
    assert found.headers["etag"] not in {"", tag}


def test_without_if_match_rules_are_replaced_whatever_they_are(admin: Api) -> None:
    assert admin.put(PROTECTION, json=[MAIN]).status_code == 204
    assert admin.put(PROTECTION, json=[RELEASES]).status_code == 204
    assert admin.get(PROTECTION).json == [RELEASES]
    assert admin.put(PROTECTION, json=[{"pattern": "a b"}]).status_code == 400
    assert admin.put(PROTECTION, json=[MAIN, MAIN]).status_code == 400
    assert admin.put(PROTECTION, json={"pattern": "main"}).status_code == 400


def test_older_clients_add_and_remove_rules_one_by_one(admin: Api) -> None:
    assert admin.post(OLD_PROTECTION, json=MAIN).status_code == 204
    assert admin.post(OLD_PROTECTION, json=RELEASES).status_code == 204
    assert admin.post(OLD_PROTECTION, json=MAIN).status_code == 409
    assert admin.get(OLD_PROTECTION).json == [MAIN, RELEASES]
    assert admin.delete(OLD_PROTECTION, json=MAIN).status_code == 204
    assert admin.delete(OLD_PROTECTION, json=MAIN).status_code == 404
    assert admin.get(PROTECTION).json == [RELEASES]


@pytest.mark.parametrize("where", [RETENTION, OLD_RETENTION])
def test_retention_rules_are_set_read_and_taken_away(admin: Api, where: str) -> None:
    send = admin.put if where == RETENTION else admin.post
    assert admin.get(where).status_code == 404
    assert send(where, json=RULES).status_code == 204
    assert admin.get(RETENTION).json == admin.get(OLD_RETENTION).json == RULES
    assert admin.delete(where).status_code == 204
    assert admin.get(where).status_code == 404


def test_a_retention_rule_that_means_nothing_is_a_wrong_request(admin: Api) -> None:
    for told in (
        {},
        {"default_retention_days": -1, "branches": []},
        {"default_retention_days": 1, "branches": [{"branch_id": "a b", "retention_days": 1}]},
        {"default_retention_days": 1, "branches": RULES["branches"] * 2},  # type: ignore[operator]
    ):
        assert admin.put(RETENTION, json=told).status_code == 400


@pytest.mark.parametrize(
    ("where", "action"),
    [
        (OLD_PROTECTION, "branches:SetBranchProtectionRules"),
        (OLD_RETENTION, "retention:SetGarbageCollectionRules"),
    ],
)
def test_a_preflight_says_whether_rules_may_be_set(admin: Api, where: str, action: str) -> None:
    allowed = Statement(effect="allow", action=(action,), resource="*")
    assert admin.user("bob", allowed).get(where + "/set_allowed").status_code == 204
    assert admin.user("eve").get(where + "/set_allowed").status_code == 403
    missing = where.replace("readings", "nowhere")
    assert admin.get(missing + "/set_allowed").status_code == 404
