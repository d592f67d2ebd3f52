# SPDX-License-Identifier: Apache-2.0
"""Published advisories about lakeFS, asked of our API: each was a hole in a product like this one.

Beside their own parts are GHSA-28q9 (deletions of many), GHSA-9phh (objects that are pages),
CVE-2025-27100 (endless parts of uploads) and, of the store below, GHSA-hh33 and GHSA-4rgc; the
matrix of permissions is the larger answer to GHSA-m836 and GHSA-fvv5.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lochan.access.actions import ACTIONS
from support.object_routes import OBJECT, Objects, allow
from support.web import Api, open_api

REPOSITORY = "arn:lakefs:fs:::repository/lake"


@pytest.fixture
def objects(api: Api) -> Objects:
    made = Objects.made(api)
    made.put("secret/a", b"secret")
    return made


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with open_api(tmp_path / "lake") as opened:
        yield opened


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/refs/dump"),
        ("POST", "/dump"),
        ("GET", "/metadata/meta_range/" + "0" * 64),
        ("GET", "/metadata/range/" + "0" * 64),
        ("GET", "/metadata/object/range/" + "0" * 64),
    ],
)
def test_rel_S16_GHSA_m836_metadata_is_not_for_who_may_only_read_a_repository(
    objects: Objects, method: str, path: str
) -> None:
    reader = objects.as_user("ann", allow("fs:ReadRepository", "fs:ReadObject", on=REPOSITORY))
    answer = reader.api.ask(method, f"/repositories/lake{path}")
    assert (answer.status_code, answer.json["code"]) == (403, "permission-denied")


def test_rel_S16_GHSA_m836_restoring_refs_is_not_for_who_may_make_branches(
    objects: Objects,
) -> None:
    maker = objects.as_user("ann", allow("fs:CreateBranch", "fs:WriteObject", on="*"))
    ids = ("commits_meta_range_id", "tags_meta_range_id", "branches_meta_range_id")
    answer = maker.api.put("/repositories/lake/refs/restore", json=dict.fromkeys(ids, "0" * 64))
    assert answer.status_code == 403


def test_rel_S16_GHSA_m836_copying_reads_nothing_that_the_caller_may_not_read(
    objects: Objects,
) -> None:
    writer = objects.as_user("ann", allow("fs:*", on=OBJECT + "mine/*"))
    told = {"json": {"src_path": "secret/a"}, "params": {"dest_path": "mine/a"}}
    assert writer.api.post(f"{writer.branch}/objects/copy", **told).status_code == 403
    assert objects.paths() == ["secret/a"]


def test_rel_S16_GHSA_fvv5_no_other_right_stands_for_reading_the_source(objects: Objects) -> None:
    others = sorted(ACTIONS - {"fs:ReadObject"})
    writer = objects.as_user("ann", allow(*others, on="*"))
    told = {"json": {"src_path": "secret/a"}, "params": {"dest_path": "mine/a"}}
    assert writer.api.post(f"{writer.branch}/objects/copy", **told).status_code == 403
    reader = objects.as_user("eve", allow("ci:ReadAction", "fs:WriteObject", on="*"))
    assert reader.api.post(f"{reader.branch}/objects/copy", **told).status_code == 403


def test_rel_S33_GHSA_hh33_keys_of_a_deleted_user_are_dead_and_stay_dead(api: Api) -> None:
    bob = api.user("bob")
    assert bob.get("/user").status_code == 200
    assert api.delete("/auth/users/bob").status_code == 204
    assert bob.get("/user").status_code == 401
    assert api.post("/auth/users", json={"id": "bob"}).status_code == 201
    assert bob.get("/user").status_code == 401
    assert api.get("/auth/users/bob/credentials").json["results"] == []


def test_rel_GHSA_h238_figures_about_use_are_not_for_anybody(api: Api) -> None:
    for prefix, path in (("/api/v1", "/usage-report/summary"), ("", "/metrics")):
        assert api.nobody().get(path, prefix=prefix).status_code == 401
        assert api.user(f"ann{len(path)}").get(path, prefix=prefix).status_code == 403


def test_rel_S31_GHSA_4rgc_no_log_holds_a_secret_a_token_or_a_signature(objects: Objects) -> None:
    api, nobody = objects.api, objects.api.nobody()
    credential = api.credential
    assert credential is not None
    key = {
        "access_key_id": credential.access_key_id,
        "secret_access_key": credential.secret_access_key,
    }
    token = nobody.post("/auth/login", json=key).json["token"]
    made = api.post("/auth/users/admin/credentials").json["secret_access_key"]
    nobody.get("/user", headers={"authorization": f"Bearer {token}"})
    nobody.get("/user", headers={"authorization": f"Bearer {token}x"})
    nobody.post("/auth/login", json=key | {"secret_access_key": "wrong-" + made})
    url = objects.get("secret/a", presign="true").headers["location"]
    objects.fetch("GET", url)
    objects.fetch("GET", url + "x")
    secrets = (credential.secret_access_key, token, made, url.rpartition("token=")[2])
    written = "".join(file.read_text() for file in log_files(api))
    assert "auth:CreateCredentials" in written
    assert [secret for secret in secrets if secret in written] == []


def log_files(api: Api) -> list[Path]:
    settings = api.services.settings.logging
    return [file for file in (settings.file, settings.audit_file) if file and file.exists()]


OUTSIDE = ["../outside", "a/../../outside", "/etc/passwd", "a\0b", "./a", "a//b"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_rel_S21_GHSA_699m_a_key_is_a_name_and_never_a_place(
    objects: Objects, path: str, tmp_path: Path
) -> None:
    before = outside_of(tmp_path / "lake")
    answer = objects.put(path, b"mine")
    assert answer.status_code in {201, 400}
    assert outside_of(tmp_path / "lake") == before
    if answer.status_code == 201:
        assert objects.get(path).content == b"mine"


@pytest.mark.parametrize(
    "address",
    [
        "{namespace}/../pond/data/x",
        "{namespace}-sibling/data/x",
        "file:///etc/passwd",
        "local:///etc/passwd",
        "{namespace}/data/../../../x",
        "{namespace}/data/\0",
    ],
)
def test_rel_S21_GHSA_699m_an_address_outside_of_the_namespace_is_not_linked(
    objects: Objects, address: str
) -> None:
    namespace = objects.api.get("/repositories/lake").json["storage_namespace"]
    staged = {
        "physical_address": address.format(namespace=namespace),
        "checksum": "x",
        "size_bytes": 1,
    }
    answer = objects.api.put(f"{objects.branch}/objects", params={"path": "a"}, json=staged)
    assert answer.status_code in {400, 403}
    linked = {"staging": {"physical_address": staged["physical_address"]}} | {
        "checksum": "x",
        "size_bytes": 1,
    }
    at = f"{objects.branch}/staging/backing"
    assert objects.api.put(at, params={"path": "a"}, json=linked).status_code in {400, 403}
    assert objects.paths() == ["secret/a"]


@pytest.mark.parametrize("end", ["-sibling", "/../elsewhere", "/data", ""])
def test_rel_S22_GHSA_699m_a_repository_lies_beside_others_and_never_inside(
    objects: Objects, end: str
) -> None:
    namespace = objects.api.get("/repositories/lake").json["storage_namespace"]
    told = {"name": "pond", "storage_namespace": namespace + end}
    answer = objects.api.post("/repositories", json=told)
    assert answer.status_code == (201 if end == "-sibling" else 400)
    if answer.status_code == 201:  # a name that begins alike is no part of it
        objects.put("other", b"x")
        assert objects.api.get("/repositories/pond/refs/main/objects/ls").json["results"] == []


def outside_of(folder: Path) -> list[Path]:
    return sorted(file for file in folder.parent.rglob("*") if folder not in file.parents)
