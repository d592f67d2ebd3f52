# SPDX-License-Identifier: Apache-2.0
"""Users, groups, policies and credentials over REST, and who may touch them."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import falcon.testing
import msgspec
import pytest

from lochan.access.builtin import DEVELOPERS, GROUPS, VIEWERS
from lochan.access.memberships import add_group_membership
from support.object_routes import OBJECT, Objects, allow
from support.web import Api

ALL = {"effect": "allow", "action": ["*"], "resource": "*"}


def policy(name: str, **changed: object) -> dict[str, Any]:
    return {"id": name, "statement": [ALL | changed]}


def ids(answer: falcon.testing.Result) -> list[str]:
    return [result["id"] for result in answer.json["results"]]


def test_a_user_is_made_shown_listed_and_deleted(api: Api) -> None:
    made = api.post("/auth/users", json={"id": "bob"})
    assert (made.status_code, made.json["id"]) == (201, "bob")
    assert api.get("/auth/users/bob").json == made.json
    assert ids(api.get("/auth/users")) == ["admin", "bob"]
    assert api.post("/auth/users", json={"id": "bob"}).status_code == 409
    assert api.delete("/auth/users/bob").status_code == 204
    assert api.get("/auth/users/bob").status_code == 404


def test_pages_go_on_behind_the_last_name(api: Api) -> None:
    for name in ("u1", "u2", "u3", "v"):
        api.post("/auth/users", json={"id": name})
    first = api.get("/auth/users", params={"prefix": "u", "amount": 2}).json
    assert first["pagination"] == {
        "has_more": True,
        "next_offset": "u2",
        "results": 2,
        "max_per_page": 1000,
    }
    rest = api.get("/auth/users", params={"prefix": "u", "after": "u2", "amount": 0})
    assert ids(rest) == ["u3"]
    assert rest.json["pagination"]["next_offset"] == ""


@pytest.mark.parametrize("name", ["a/b", "/", ".", ".."])
def test_what_no_path_could_name_is_not_made(api: Api, name: str) -> None:
    assert api.post("/auth/users", json={"id": name}).status_code == 400
    assert api.post("/auth/groups", json={"id": name}).status_code == 400
    assert api.post("/auth/policies", json=policy(name)).status_code == 400


@pytest.mark.parametrize("name", ["ann@example.org", "ä ö", "50%", "a?b#c", "...", "%2F", "+"])
def test_a_name_of_any_letters_is_found_again(api: Api, name: str) -> None:
    assert api.post("/auth/users", json={"id": name}).json["id"] == name
    assert api.get(f"/auth/users/{quote(name, safe='')}").json["id"] == name
    assert api.delete(f"/auth/users/{quote(name, safe='')}").status_code == 204


def test_a_group_has_members_and_policies(api: Api) -> None:
    api.post("/auth/users", json={"id": "bob"})
    made = api.post("/auth/groups", json={"id": "crew", "description": "who sails"}).json
    assert (made["id"], made["name"], made["description"]) == ("crew", "crew", "who sails")
    assert api.put("/auth/groups/crew/members/bob").status_code == 201
    assert api.put("/auth/groups/crew/policies/FSReadAll").status_code == 201
    assert ids(api.get("/auth/groups/crew/members")) == ["bob"]
    assert ids(api.get("/auth/groups/crew/policies")) == ["FSReadAll"]
    assert ids(api.get("/auth/users/bob/groups")) == ["crew"]
    assert ids(api.get("/auth/users/bob/policies")) == []
    assert ids(api.get("/auth/users/bob/policies", params={"effective": "true"})) == ["FSReadAll"]
    assert api.delete("/auth/groups/crew/policies/FSReadAll").status_code == 204
    assert api.delete("/auth/groups/crew/members/bob").status_code == 204
    assert api.delete("/auth/groups/crew/members/bob").status_code == 404
    assert api.delete("/auth/groups/crew").status_code == 204


def test_a_policy_is_made_shown_changed_and_deleted(api: Api) -> None:
    made = api.post("/auth/policies", json=policy("everything"))
    assert (made.status_code, made.json["statement"]) == (201, [ALL])
    less = policy("everything", action=["fs:Read*"])
    assert api.put("/auth/policies/everything", json=less).status_code == 200
    assert api.get("/auth/policies/everything").json["statement"] == less["statement"]
    assert api.put("/auth/policies/everything", json=policy("other")).status_code == 400
    assert api.delete("/auth/policies/everything").status_code == 204
    assert "everything" not in ids(api.get("/auth/policies"))


def test_a_condition_is_refused_and_not_dropped(api: Api) -> None:
    told = policy("at-home", condition={"IpAddress": {"SourceIp": ["10.0.0.0/8"]}})
    assert api.post("/auth/policies", json=told).status_code == 501
    assert api.get("/auth/policies/at-home").status_code == 404


def test_rel_S27_a_secret_is_told_once(api: Api) -> None:
    made = api.post("/auth/users/admin/credentials")
    key, secret = made.json["access_key_id"], made.json["secret_access_key"]
    assert made.status_code == 201
    shown = api.get(f"/auth/users/admin/credentials/{key}")
    listed = api.get("/auth/users/admin/credentials")
    assert shown.json.keys() == {"access_key_id", "creation_date"}
    assert shown.json in listed.json["results"]
    assert secret not in shown.text + listed.text
    assert api.delete(f"/auth/users/admin/credentials/{key}").status_code == 204
    assert api.get(f"/auth/users/admin/credentials/{key}").status_code == 404


def test_the_current_user_is_who_asks(api: Api) -> None:
    assert api.user("bob").get("/user").json["user"]["id"] == "bob"
    assert api.nobody().get("/user").status_code == 401


def in_group(api: Api, group: str) -> Api:
    member = api.user("bob")
    add_group_membership(api.services.access, group, "bob")
    return member


@pytest.mark.parametrize("group", sorted(set(GROUPS) - {"Admins"}))
def test_a_member_manages_its_own_credentials_alone(api: Api, group: str) -> None:
    bob = in_group(api, group)
    key = bob.post("/auth/users/bob/credentials").json["access_key_id"]
    assert bob.get(f"/auth/users/bob/credentials/{key}").status_code == 200
    assert bob.delete(f"/auth/users/bob/credentials/{key}").status_code == 204
    assert bob.post("/auth/users/admin/credentials").status_code == 403
    assert bob.get("/auth/users/admin/credentials").status_code == 403


@pytest.mark.parametrize("group", [DEVELOPERS, VIEWERS, "SuperUsers"])
def test_rel_S16_nobody_widens_their_own_rights(api: Api, group: str) -> None:
    bob = in_group(api, group)
    tries = [
        bob.post("/auth/policies", json=policy("mine")),
        bob.put("/auth/policies/FSReadAll", json=policy("FSReadAll")),
        bob.put("/auth/users/bob/policies/AuthFullAccess"),
        bob.put(f"/auth/groups/{group}/policies/AuthFullAccess"),
        bob.put("/auth/groups/Admins/members/bob"),
        bob.post("/auth/users", json={"id": "puppet"}),
        bob.post("/auth/users/admin/credentials"),
        bob.delete("/auth/users/admin"),
    ]
    assert [answer.status_code for answer in tries] == [403] * len(tries)


def audit_lines(api: Api, action: str) -> list[tuple[str, str, str]]:
    """Give (principal, resource, result) of what was written down of an action."""
    file: Path = api.services.settings.logging.file  # type: ignore[assignment]
    lines = map(msgspec.json.decode, file.read_bytes().splitlines())
    found = [line for line in lines if line.get("event") == "audit" and line["action"] == action]
    return [(line["principal"], line["resource"], line["result"]) for line in found]


def test_rel_S31_every_change_of_access_leaves_a_line(api: Api) -> None:
    api.post("/auth/users", json={"id": "bob"})
    api.post("/auth/users", json={"id": "bob"})
    api.get("/auth/users/bob")
    arn = "arn:lakefs:auth:::user/bob"
    expected = [("admin", arn, "allowed"), ("admin", arn, "failed")]
    assert audit_lines(api, "auth:CreateUser") == expected
    assert audit_lines(api, "auth:ReadUser") == []


def test_rel_S31_every_refusal_leaves_a_line(api: Api) -> None:
    bob = api.user("bob")
    bob.get("/auth/users/admin")
    api.nobody().get("/auth/users/admin")
    assert audit_lines(api, "auth:ReadUser") == [
        ("bob", "arn:lakefs:auth:::user/admin", "denied"),
        ("", "/api/v1/auth/users/admin", "denied"),
    ]


def test_rel_S31_of_many_each_key_has_a_line_of_its_own(api: Api) -> None:
    objects = Objects.made(api)
    ann = objects.as_user("ann", allow("fs:DeleteObject", on=OBJECT + "mine/*"))
    told = {"paths": ["mine/a", "yours/a"]}
    assert ann.api.post(f"{ann.branch}/objects/delete", json=told).status_code == 200
    assert audit_lines(api, "fs:DeleteObject") == [
        ("ann", OBJECT + "mine/a", "allowed"),
        ("ann", OBJECT + "yours/a", "denied"),
    ]


def test_rel_S31_a_login_leaves_a_line_whether_it_succeeds_or_not(api: Api) -> None:
    credential = api.credential
    assert credential is not None
    key = credential.access_key_id
    told = {"access_key_id": key, "secret_access_key": credential.secret_access_key}
    api.nobody().post("/auth/login", json=told)
    api.nobody().post("/auth/login", json=told | {"secret_access_key": "wrong"})
    assert audit_lines(api, "login") == [
        ("admin", key, "allowed"),
        ("", "/api/v1/auth/login", "denied"),
    ]
