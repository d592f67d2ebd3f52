# SPDX-License-Identifier: Apache-2.0
"""Who may do what through WebHDFS: the lake's own users, policies and credentials decide."""

from urllib.parse import urlencode

import falcon.testing
import pytest

from lochan.operations import delete_objects
from support.hdfs import Hdfs, exception
from support.object_routes import OBJECT, allow, deny

DENIED = (403, "AccessControlException")
REPOSITORY = "arn:lakefs:fs:::repository/lake"


def token(hdfs: Hdfs, **form: str) -> falcon.testing.Result:
    body = urlencode(form).encode()
    return hdfs.api.nobody().ask("POST", "/oauth2/token", prefix="", body=body)


def test_rel_S12_a_name_alone_is_nobody(hdfs: Hdfs) -> None:
    hdfs.objects.put("a")
    nobody = Hdfs(hdfs.api.nobody())
    for answer in (
        nobody.get("GETFILESTATUS", "a", **{"user.name": "admin"}),
        nobody.get("OPEN", "a", doas="admin"),
        nobody.write("b"),
        nobody.get("GETHOMEDIRECTORY", "/"),
        nobody.get("NOTHING", "/"),
    ):
        assert exception(answer) == (401, "SecurityException")


def test_a_client_gets_a_token_for_its_access_key_and_comes_with_it(hdfs: Hdfs) -> None:
    hdfs.objects.put("a")
    key = hdfs.api.credential
    assert key is not None
    issued = token(
        hdfs,
        grant_type="client_credentials",
        client_id=key.access_key_id,
        client_secret=key.secret_access_key,
    )
    assert issued.status_code == 200
    assert issued.headers["cache-control"] == "no-store"
    assert issued.json["expires_in"] > 60
    bearer = {"authorization": f"Bearer {issued.json['access_token']}"}
    at = "/webhdfs/v1/lake/main/a"
    params = {"op": "GETFILESTATUS"}
    found = hdfs.api.nobody().ask("GET", at, prefix="", params=params, headers=bearer)
    assert found.json["FileStatus"]["type"] == "FILE"


def test_rel_S12_no_token_without_the_secret(hdfs: Hdfs) -> None:
    key = hdfs.api.credential
    assert key is not None
    grant = {"grant_type": "client_credentials", "client_id": key.access_key_id}
    for form, status, error in [
        ({**grant, "client_secret": "wrong"}, 401, "invalid_client"),
        (grant, 400, "invalid_request"),
        ({"grant_type": "password", **grant, "client_secret": "x"} | grant, 401, "invalid_client"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({}, 400, "unsupported_grant_type"),
        ({"grant_type": "x" * 5000}, 400, "unsupported_grant_type"),
    ]:
        answer = token(hdfs, **form)
        assert (answer.status_code, answer.json["error"]) == (status, error)


def test_who_may_only_read_reads_files_and_sees_no_directories(hdfs: Hdfs) -> None:
    hdfs.objects.put("a/b", b"1")
    reader = Hdfs(hdfs.api.user("reader", allow("fs:ReadObject", on=OBJECT + "a/*")))
    assert reader.read("a/b") == b"1"
    assert reader.status("a/b")["length"] == 1
    assert exception(reader.get("GETFILESTATUS", "a/none")) == (404, "FileNotFoundException")
    for answer in (
        reader.get("GETFILESTATUS", "a"),
        reader.get("LISTSTATUS", "a"),
        reader.get("LISTSTATUS_BATCH", "a"),
        reader.get("GETCONTENTSUMMARY", "a"),
        reader.get("LISTSTATUS", "/lake"),
        reader.get("GETFILESTATUS", "/lake"),
        reader.get("OPEN", "c"),
        reader.write("a/c"),
        reader.delete("a/b"),
        reader.make("a/d"),
        reader.rename("a/b", "a/e"),
        reader.ask("POST", "APPEND", "a/b"),
        reader.ask("PUT", "SETOWNER", "a/b"),
    ):
        assert exception(answer) == DENIED
    assert reader.names("/") == []


def test_rel_S16_a_directory_is_deleted_whole_or_not_at_all(
    hdfs: Hdfs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delete_objects, "AT_ONCE", 1)
    for path in ("t/a", "t/b", "t/c"):
        hdfs.objects.put(path)
    user = Hdfs(
        hdfs.api.user(
            "eve",
            allow("fs:DeleteObject", "fs:ListObjects", on="*"),
            deny("fs:DeleteObject", on=OBJECT + "t/c"),
        )
    )
    assert exception(user.delete("t", recursive=True)) == DENIED
    assert hdfs.keys() == ["t/a", "t/b", "t/c"]


def test_rel_S16_a_rename_takes_and_gives_only_what_may_be(hdfs: Hdfs) -> None:
    hdfs.objects.put("t/a")
    hdfs.objects.put("t/c")
    everything = allow("fs:*", on="*")
    taker = Hdfs(hdfs.api.user("taker", everything, deny("fs:DeleteObject", on=OBJECT + "t/c")))
    giver = Hdfs(hdfs.api.user("giver", everything, deny("fs:WriteObject", on=OBJECT + "u/c")))
    into = Hdfs(hdfs.api.user("into", everything, deny("fs:WriteObject", on=OBJECT + "d/t*")))
    hdfs.make("d")
    assert exception(taker.rename("t", "u")) == DENIED
    assert exception(giver.rename("t", "u")) == DENIED
    assert exception(into.rename("t", "d")) == DENIED
    assert hdfs.keys() == ["d/", "t/a", "t/c"]


def test_a_policy_for_what_is_in_a_directory_is_enough_for_the_directory(hdfs: Hdfs) -> None:
    hdfs.objects.put("tables")
    user = Hdfs(
        hdfs.api.user(
            "writer",
            allow("fs:*", on=OBJECT + "tables/*"),
            allow("fs:*", on=OBJECT + "other/*"),
            allow("fs:ListObjects", on=REPOSITORY),
        )
    )
    assert exception(user.delete("tables")) == exception(user.rename("tables", "other")) == DENIED
    hdfs.delete("tables")
    assert user.make("tables").status_code == 200
    assert user.write("tables/a").status_code == 201
    assert user.renamed("tables", "other")
    assert user.delete("other", recursive=True).json == {"boolean": True}
    assert exception(user.write("tables")) == DENIED
    assert hdfs.keys() == []


def test_rel_S16_a_directory_is_made_by_who_may_write_in_it(hdfs: Hdfs) -> None:
    eve = hdfs.api.user("eve", allow("fs:*", on="*"), deny("fs:WriteObject", on=OBJECT + "in/*"))
    ann = hdfs.api.user("ann", allow("fs:WriteObject", on=OBJECT + "in/*"))
    assert exception(Hdfs(eve).make("in")) == DENIED
    assert hdfs.keys() == []
    assert Hdfs(ann).make("in").status_code == 200
    assert exception(Hdfs(ann).make("out")) == DENIED
    assert hdfs.keys() == ["in/"]


def test_rel_S16_who_has_a_pin_must_still_be_allowed_to_read(hdfs: Hdfs) -> None:
    hdfs.objects.put("a", b"1")
    opened = hdfs.get("OPEN", "a")
    stranger = Hdfs(hdfs.api.user("stranger", allow("fs:ListObjects", on=REPOSITORY)))
    assert exception(stranger.follow("GET", opened)) == DENIED
    assert stranger.status("a")["length"] == 1
    assert exception(Hdfs(hdfs.api.nobody()).follow("GET", opened))[0] == 401


def test_rel_S31_what_is_done_and_refused_is_written_down(hdfs: Hdfs) -> None:
    Hdfs(hdfs.api.user("eve")).write("a")
    hdfs.write("b")
    log = hdfs.api.services.settings.lake / "log"
    lines = [line for line in log.read_text().splitlines() if "fs:WriteObject" in line]
    assert any("eve" in line and "denied" in line for line in lines)
    assert any("admin" in line and "allowed" in line for line in lines)
