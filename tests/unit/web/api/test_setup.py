# SPDX-License-Identifier: Apache-2.0
"""Set-up, logging in, and what clients are told before they act."""

from pathlib import Path

import falcon

from lochan.config.server import Limits
from support.web import Api, open_api


def log_in(api: Api) -> falcon.testing.Result:
    credential = api.credential
    assert credential is not None
    told = {
        "access_key_id": credential.access_key_id,
        "secret_access_key": credential.secret_access_key,
    }
    return api.nobody().post("/auth/login", json=told)


def test_rel_S28_set_up_works_once(api: Api) -> None:
    assert api.nobody().get("/setup_lakefs").json["state"] == "initialized"
    again = api.nobody().post("/setup_lakefs", json={"username": "mallory"})
    assert again.status_code == 409
    assert "secret_access_key" not in again.text


def test_a_login_gives_a_token_that_stands_for_the_key(api: Api) -> None:
    token = log_in(api).json["token"]
    asked = api.nobody().get("/config", headers={"authorization": f"Bearer {token}"})
    assert asked.status_code == 200


def test_rel_S7_a_wrong_secret_and_an_unknown_key_are_told_alike(api: Api) -> None:
    credential = api.credential
    assert credential is not None
    keys = (credential.access_key_id, "AKIANOBODYKNOWSTHIS1")
    answers = [
        api.nobody().post("/auth/login", json={"access_key_id": k, "secret_access_key": "x" * 40})
        for k in keys
    ]
    assert [a.status_code for a in answers] == [401, 401]
    assert answers[0].json == answers[1].json


def test_rel_S14_a_servers_settings_say_how_many_logins_may_fail(tmp_path: Path) -> None:
    with open_api(tmp_path / "lake", limits=Limits(logins_per_minute=2)) as api:
        wrong = {"access_key_id": "AKIANOBODYKNOWSTHIS1", "secret_access_key": "x" * 40}
        answers = [api.nobody().post("/auth/login", json=wrong).status_code for _ in range(3)]
    assert answers == [401, 401, 429]


def test_rel_S13_the_cookie_of_a_login_is_for_http_alone(api: Api) -> None:
    cookie = log_in(api).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie


def test_rel_S13_a_cookie_changes_nothing_from_another_site(api: Api) -> None:
    cookie = log_in(api).headers["set-cookie"].partition(";")[0]
    create = {"json": {"id": "v1", "ref": "main"}, "prefix": "/api/v1"}
    foreign = {"cookie": cookie, "origin": "https://evil.example"}
    refused = api.nobody().post("/repositories/lake/tags", headers=foreign, **create)
    assert (refused.status_code, refused.json["code"]) == (403, "foreign-origin")
    none = api.nobody().post("/repositories/lake/tags", headers={"cookie": cookie}, **create)
    assert none.status_code == 403
    own = {"cookie": cookie, "origin": "http://falconframework.org"}
    assert api.nobody().post("/repositories/lake/tags", headers=own, **create).status_code == 404
    assert api.nobody().get("/config", headers={"cookie": cookie}).status_code == 200


def test_the_config_says_that_urls_can_be_signed(api: Api) -> None:
    storage = api.get("/config").json["storage_config"]
    assert storage["blockstore_type"] == "local"
    assert storage["pre_sign_support"] is True


def test_nobody_learns_the_configuration(api: Api) -> None:
    assert api.nobody().get("/config").status_code == 401
    assert api.nobody().get("/metrics", prefix="").status_code == 401
