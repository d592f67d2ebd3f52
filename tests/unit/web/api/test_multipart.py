# SPDX-License-Identifier: Apache-2.0
"""Uploads in parts through signed URLs."""

import hashlib

import pytest
from falcon.testing import Result

from support.object_routes import OBJECT, Objects, Told, allow, make_repository
from support.web import Api

Parts = list[dict[str, object]]


@pytest.fixture
def objects(api: Api) -> Objects:
    return Objects.made(api)


def begin(objects: Objects, path: str = "big", parts: int = 2) -> Told:
    at = f"{objects.branch}/staging/pmpu"
    found: Told = objects.api.post(at, params={"path": path, "parts": str(parts)}).json
    return found


def send(objects: Objects, begun: Told, *bodies: bytes) -> Parts:
    sent: Parts = []
    for number, (url, body) in enumerate(zip(begun["presigned_urls"], bodies, strict=True), 1):
        answer = objects.fetch("PUT", url, body=body)
        assert answer.status_code == 200
        sent.append({"part_number": number, "etag": answer.headers["etag"]})
    return sent


def complete(
    objects: Objects, begun: Told, parts: Parts, path: str = "big", **told: object
) -> Result:
    at = f"{objects.branch}/staging/pmpu/{begun['upload_id']}"
    body = {"physical_address": begun["physical_address"], "parts": parts, **told}
    return objects.api.put(at, params={"path": path}, json=body)


def abort(objects: Objects, begun: Told, path: str = "big") -> Result:
    at = f"{objects.branch}/staging/pmpu/{begun['upload_id']}"
    body = {"physical_address": begun["physical_address"]}
    return objects.api.delete(at, params={"path": path}, json=body)


def test_parts_that_were_sent_become_an_object(objects: Objects) -> None:
    begun = begin(objects)
    parts = send(objects, begun, b"a" * 70_000, b"b" * 5)
    assert objects.paths() == []
    answer = complete(objects, begun, parts, content_type="text/plain", user_metadata={"k": "v"})
    told = answer.json
    assert (answer.status_code, told["size_bytes"], told["metadata"]) == (200, 70_005, {"k": "v"})
    digests = b"".join(hashlib.md5(part).digest() for part in (b"a" * 70_000, b"b" * 5))
    assert told["checksum"] == f"{hashlib.md5(digests).hexdigest()}-2"
    assert objects.get("big").content == b"a" * 70_000 + b"b" * 5
    assert complete(objects, begun, parts).status_code == 404


def test_a_part_that_is_sent_again_replaces_the_first(objects: Objects) -> None:
    begun = begin(objects, parts=1)
    first = send(objects, begun, b"one")
    second = send(objects, begun, b"two")
    assert complete(objects, begun, first).json["code"] == "invalid-parts"
    assert complete(objects, begun, second).status_code == 200
    assert objects.get("big").content == b"two"


def test_the_url_of_a_further_part_can_be_had_later(objects: Objects) -> None:
    begun = begin(objects, parts=0)
    at = f"{objects.branch}/staging/pmpu/{begun['upload_id']}/parts/7"
    body = {"physical_address": begun["physical_address"]}
    url = objects.api.put(at, params={"path": "big"}, json=body).json["presigned_url"]
    etag = objects.fetch("PUT", url, body=b"seven").headers["etag"]
    assert complete(objects, begun, [{"part_number": 7, "etag": etag}]).status_code == 200
    assert objects.get("big").content == b"seven"


@pytest.mark.parametrize("number", ["0", "10001", "-1", "x", "1_0"])
def test_rel_S9_a_part_has_a_number_from_1_to_10000(objects: Objects, number: str) -> None:
    begun = begin(objects, parts=0)
    at = f"{objects.branch}/staging/pmpu/{begun['upload_id']}/parts/{number}"
    body = {"physical_address": begun["physical_address"]}
    assert objects.api.put(at, params={"path": "big"}, json=body).status_code == 400


def test_rel_CVE_2025_27100_parts_are_counted_before_anything_is_made(objects: Objects) -> None:
    at = f"{objects.branch}/staging/pmpu"
    assert objects.api.post(at, params={"path": "a", "parts": "10001"}).status_code == 400
    begun = begin(objects, parts=1)
    (part,) = send(objects, begun, b"one")
    assert complete(objects, begun, [part] * 10_001).status_code == 400
    assert complete(objects, begun, [part]).status_code == 200


def test_ten_thousand_urls_can_be_had_at_once(objects: Objects) -> None:
    begun = begin(objects, parts=10_000)
    assert len(set(begun["presigned_urls"])) == 10_000
    answer = objects.fetch("PUT", begun["presigned_urls"][-1], body=b"last")
    parts: Parts = [{"part_number": 10_000, "etag": answer.headers["etag"]}]
    assert complete(objects, begun, parts).status_code == 200


def test_rel_S9_an_upload_belongs_to_its_path_branch_and_repository(objects: Objects) -> None:
    begun = begin(objects, parts=1)
    parts = send(objects, begun, b"one")
    other = Objects(objects.api)
    make_repository(objects.api, "pond")
    for branch in ("/repositories/lake/branches/dev", "/repositories/pond/branches/main"):
        other.branch = branch
        assert complete(other, begun, parts).json["code"] == "link-invalid"
        assert abort(other, begun).json["code"] == "link-invalid"
    assert complete(objects, begun, parts, path="small").json["code"] == "link-invalid"
    assert complete(objects, begun, parts).status_code == 200


def test_rel_S9_an_upload_is_neither_ended_nor_aborted_by_another_s_address(
    objects: Objects,
) -> None:
    mine, theirs = begin(objects, "mine", 1), begin(objects, "theirs", 1)
    parts = send(objects, theirs, b"one")
    mixed = {**mine, "upload_id": theirs["upload_id"]}
    assert complete(objects, mixed, parts, path="mine").json["code"] == "upload-not-found"
    assert abort(objects, mixed, path="mine").json["code"] == "upload-not-found"
    assert complete(objects, theirs, parts, path="theirs").status_code == 200


def test_an_upload_that_is_given_up_takes_no_further_parts(objects: Objects) -> None:
    begun = begin(objects)
    assert abort(objects, begun).status_code == 204
    assert objects.fetch("PUT", begun["presigned_urls"][0], body=b"x").status_code == 404
    assert abort(objects, begun).status_code == 404


@pytest.mark.parametrize("etag", ["", '"x"', "0" * 32 + ".what"])
def test_parts_that_were_not_sent_are_refused(objects: Objects, etag: str) -> None:
    begun = begin(objects)
    answer = complete(objects, begun, [{"part_number": 1, "etag": etag}])
    assert (answer.status_code, answer.json["code"]) == (400, "invalid-parts")
    assert objects.paths() == []


def copy_part(objects: Objects, begun: Told, number: int = 1, **source: str) -> Result:
    at = f"{objects.branch}/staging/pmpu/{begun['upload_id']}/parts/{number}/copy"
    told = {"repository": "pond", "ref": "main", "path": "digits", **source}
    body = {"physical_address": begun["physical_address"], "copy_source": told}
    return objects.api.put(at, params={"path": "big"}, json=body)


@pytest.fixture
def pond(objects: Objects) -> Objects:
    make_repository(objects.api, "pond")
    found = Objects(objects.api)
    found.branch = "/repositories/pond/branches/main"
    found.put("digits", b"0123456789")
    return found


@pytest.mark.parametrize(
    ("asked", "copied"), [("bytes=2-4", b"234"), ("bytes=7-", b"789"), ("bytes=-2", b"89")]
)
@pytest.mark.usefixtures("pond")
def test_a_part_can_be_bytes_of_another_object(objects: Objects, asked: str, copied: bytes) -> None:
    begun = begin(objects, parts=0)
    some, whole = copy_part(objects, begun, range=asked), copy_part(objects, begun, 2)
    assert (some.status_code, some.content) == (204, b"")
    parts: Parts = [
        {"part_number": number, "etag": answer.headers["etag"]}
        for number, answer in enumerate((some, whole), 1)
    ]
    assert complete(objects, begun, parts).status_code == 200
    assert objects.get("big").content == copied + b"0123456789"


@pytest.mark.usefixtures("pond")
def test_rel_S16_a_part_is_copied_only_from_what_the_caller_may_read(objects: Objects) -> None:
    writer = objects.as_user("ann", allow("fs:WriteObject", "fs:ReadObject", on=OBJECT + "*"))
    begun = begin(writer, parts=0)
    assert copy_part(writer, begun).status_code == 403
    reader = objects.as_user("bob", allow("fs:ReadObject", on="*"))
    assert copy_part(reader, begun).status_code == 403
    assert copy_part(objects, begun, path="nothing").status_code == 404
    for wrong in ("bytes=4-2", "bytes=10-", "bytes=-0", f"bytes={'9' * 5000}-", "lines=1-2"):
        assert copy_part(objects, begun, range=wrong).status_code == 400
