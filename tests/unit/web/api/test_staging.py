# SPDX-License-Identifier: Apache-2.0
"""Addresses that are given, signed URLs, and what may be linked to a path."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from falcon.testing import Result

from lochan.config.server import Blockstore
from lochan.model.access import Statement
from lochan.objects.namespace import Namespace
from support.object_routes import Headers, Objects, Told, allow, make_repository
from support.web import Api, open_api


@pytest.fixture
def objects(api: Api) -> Objects:
    return Objects.made(api)


def given(objects: Objects, path: str = "a.csv", *, presign: bool = False) -> Told:
    params = {"path": path, "presign": str(presign).lower()}
    found: Told = objects.api.get(f"{objects.branch}/staging/backing", params=params).json
    return found


def link(
    objects: Objects, path: str, address: str, headers: Headers = None, **told: object
) -> Result:
    body = {"staging": {"physical_address": address}, "checksum": '"abc"', "size_bytes": 5, **told}
    at = f"{objects.branch}/staging/backing"
    return objects.api.put(at, params={"path": path}, json=body, headers=headers)


def write(objects: Objects, address: str, body: bytes = b"hello", name: str = "lake") -> None:
    """Write as a client with its own access to the store does."""
    services = objects.api.services
    repository = services.repositories.fresh(name)
    inside = Namespace.parse(repository.storage_namespace).find_address(address)
    assert inside is not None
    services.lake.storage(repository.storage_namespace).objects.put(inside, body)


def test_an_address_is_given_written_and_linked(objects: Objects) -> None:
    address = given(objects)["physical_address"]
    assert "," in address
    assert address.endswith(".csv")
    write(objects, address)
    answer = link(objects, "a.csv", address, user_metadata={"k": "v"}, content_type="text/csv")
    told = answer.json
    assert (answer.status_code, told["checksum"], told["size_bytes"]) == (200, "abc", 5)
    assert (told["physical_address"], told["metadata"]) == (address, {"k": "v"})
    assert objects.get("a.csv").content == b"hello"


def test_rel_S9_an_address_links_to_no_other_path_branch_or_repository(objects: Objects) -> None:
    address = given(objects)["physical_address"]
    write(objects, address)
    assert link(objects, "b.csv", address).json["code"] == "link-invalid"
    other = Objects(objects.api)
    other.branch = other.branch.replace("main", "dev")
    assert link(other, "a.csv", address).json["code"] == "link-invalid"
    make_repository(objects.api, "pond")
    other.branch = "/repositories/pond/branches/main"
    assert link(other, "a.csv", address).status_code == 403
    moved = address.replace("/lake/data/", "/pond/data/")
    write(objects, moved, name="pond")
    assert link(other, "a.csv", moved).json["code"] == "link-invalid"
    assert objects.paths() == []


@pytest.mark.parametrize("how", ["no signature", "other signature", "other id", "inside", "range"])
def test_an_address_that_was_not_given_is_refused(objects: Objects, how: str) -> None:
    address = given(objects)["physical_address"]
    plain, _, rest = address.rpartition(",")
    namespace = address.partition("/data/")[0]
    letter = "A" if rest[0] != "A" else "B"
    forged = {
        "no signature": f"{plain}.csv",
        "other signature": f"{plain},{letter}{rest[1:]}",
        "other id": f"{plain[:-1]}{'0' if plain[-1] != '0' else '1'},{rest}",
        "inside": address.removesuffix(".csv") + "/part.csv",
        "range": f"{namespace}/_lakefs/dummy",
    }[how]
    if how != "range":
        write(objects, forged)
    answer = link(objects, "a.csv", forged)
    assert (answer.status_code, answer.json["code"]) == (400, "link-invalid")


def test_an_object_of_another_path_cannot_be_linked_by_its_address(objects: Objects) -> None:
    """Who may write somewhere would else read everything (S16)."""
    stored = objects.put("secret", b"hello").json["physical_address"]
    assert link(objects, "mine", stored).json["code"] == "link-invalid"
    told = {"physical_address": stored, "checksum": "abc", "size_bytes": 5}
    answer = objects.api.put(f"{objects.branch}/objects", params={"path": "mine"}, json=told)
    assert answer.json["code"] == "link-invalid"


def test_what_is_linked_must_be_there_and_as_large_as_was_said(objects: Objects) -> None:
    address = given(objects)["physical_address"]
    assert link(objects, "a.csv", address).json["code"] == "link-missing"
    write(objects, address, b"other size")
    assert link(objects, "a.csv", address).json["code"] == "link-size"
    assert objects.paths() == []


def test_a_link_heeds_conditions(objects: Objects) -> None:
    objects.put("a.csv", b"one")
    address = given(objects)["physical_address"]
    write(objects, address)
    assert link(objects, "a.csv", address, {"if-none-match": "*"}).status_code == 412
    assert link(objects, "a.csv", address, {"if-match": '"other"'}).status_code == 412
    etag = objects.get("a.csv").headers["etag"]
    assert link(objects, "a.csv", address, {"if-match": etag}).status_code == 200


LONG = "x" * (64 << 10)


@pytest.mark.parametrize(
    "told", [{"checksum": LONG}, {"content_type": LONG}, {"user_metadata": {"k": LONG}}]
)
def test_rel_S18_what_is_said_of_an_object_is_bounded(objects: Objects, told: Told) -> None:
    address = given(objects)["physical_address"]
    write(objects, address)
    answer = link(objects, "a.csv", address, **told)
    assert (answer.status_code, answer.json["code"]) == (400, "description-too-large")
    assert objects.paths() == []


def test_stage_object_links_what_was_given(objects: Objects) -> None:
    address = given(objects)["physical_address"]
    write(objects, address)
    told = {"physical_address": address, "checksum": "abc", "size_bytes": 5, "mtime": 7}
    answer = objects.api.put(f"{objects.branch}/objects", params={"path": "a.csv"}, json=told)
    assert (answer.status_code, answer.json["mtime"]) == (201, 7)


def test_a_signed_url_takes_the_bytes_once_and_tells_their_md5(objects: Objects) -> None:
    told = given(objects, presign=True)
    url = told["presigned_url"]
    answer = objects.fetch("PUT", url, body=b"hello")
    md5 = hashlib.md5(b"hello").hexdigest()
    assert (answer.status_code, answer.headers["etag"]) == (200, f'"{md5}"')
    assert objects.fetch("PUT", url, body=b"again").status_code == 412
    linked = link(objects, "a.csv", told["physical_address"], checksum=md5)
    assert linked.status_code == 200
    assert objects.get("a.csv").content == b"hello"


def test_who_may_not_write_gets_no_address(objects: Objects) -> None:
    reader = objects.as_user("ann", allow("fs:ReadObject"))
    assert given(reader)["code"] == "permission-denied"
    assert given(reader, presign=True)["code"] == "permission-denied"


def test_rel_S22_a_foreign_object_is_linked_only_where_the_settings_allow(tmp_path: Path) -> None:
    for name in ("raw", "raw2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_bytes(b"hello")
    stores = Blockstore(readable_folders=(tmp_path / "raw",))
    with open_api(tmp_path / "lake", blockstore=stores) as api:
        objects = Objects.made(api)
        assert link(objects, "a.csv", f"file://{tmp_path}/raw/a.csv").status_code == 200
        assert objects.get("a.csv").content == b"hello"
        for refused in ("raw2/a.csv", "raw/../raw2/a.csv", "lake/kv.db", "raw//a.csv", "x\0y"):
            answer = link(objects, "b.csv", f"file://{tmp_path}/{refused}")
            assert (answer.status_code, answer.json["code"]) == (403, "link-foreign"), refused
        assert link(objects, "b.csv", "s3://bucket/key").json["code"] == "link-foreign"
        writer = objects.as_user("ann", allow("fs:WriteObject"))
        answer = link(writer, "b.csv", f"file://{tmp_path}/raw/a.csv")
        assert (answer.status_code, answer.json["code"]) == (403, "permission-denied")


def test_rel_S16_a_place_that_is_denied_is_denied_however_it_is_spelled(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"hello")
    stores = Blockstore(readable_folders=(tmp_path,))
    place = f"arn:lakefs:fs:::namespace/file://{tmp_path}/*"
    refusal = Statement(effect="deny", action=("fs:ImportFromStorage",), resource=place)
    with open_api(tmp_path / "lake", blockstore=stores) as api:
        ann = Objects.made(api).as_user("ann", allow("fs:*", on="*"), refusal)
        for scheme in ("file", "local"):
            answer = link(ann, "a.csv", f"{scheme}://{tmp_path}/a.csv")
            assert (answer.status_code, answer.json["code"]) == (403, "permission-denied"), scheme


def test_rel_S22_what_lies_in_another_repository_is_not_linked(tmp_path: Path) -> None:
    stores = Blockstore(
        allowed_namespace_prefixes=(f"local://{tmp_path}",), readable_folders=(tmp_path,)
    )
    with open_api(tmp_path / "lake", blockstore=stores) as api:
        objects = Objects.made(api)
        make_repository(api, "pond")
        pond = Objects(api)
        pond.branch = "/repositories/pond/branches/main"
        stored = pond.put("secret", b"hello").json["physical_address"]
        far = make_repository(api, "far", f"local://{tmp_path}/far")
        api.services.lake.storage(far.storage_namespace).objects.put("data/x", b"hello")
        for address in (stored, f"local://{tmp_path}/far/data/x", f"file://{tmp_path}/lake/kv.db"):
            for spelled in (address, address.replace("local://", "file://")):
                answer = link(objects, "mine", spelled)
                assert answer.json["message"].endswith("in a repository, or beside one"), spelled
        assert objects.paths() == []


@pytest.fixture
def behind_links(tmp_path: Path) -> Iterator[tuple[Objects, Path]]:
    """A lake whose folder is named through a link, and a secret of another repository in it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    (tmp_path / "mounted").symlink_to(disk)
    with open_api(
        tmp_path / "mounted" / "lake", blockstore=Blockstore(readable_folders=(tmp_path,))
    ) as api:
        objects = Objects.made(api)
        make_repository(api, "pond")
        pond = Objects(api)
        pond.branch = "/repositories/pond/branches/main"
        pond.put("secret", b"hello")
        (found,) = (
            one for one in disk.rglob("*") if one.is_file() and one.read_bytes() == b"hello"
        )
        yield objects, found


def test_rel_S22_another_repository_is_not_linked_by_the_way_behind_a_symbolic_link(
    behind_links: tuple[Objects, Path], tmp_path: Path
) -> None:
    objects, secret = behind_links
    (tmp_path / "folder").symlink_to(secret.parent)
    (tmp_path / "file").symlink_to(secret)
    for place in (secret, tmp_path / "folder" / secret.name, tmp_path / "file"):
        answer = link(objects, "mine", f"file://{place}")
        assert (answer.status_code, answer.json["code"]) == (403, "link-foreign"), place
    assert objects.paths() == []


def test_rel_S22_a_linked_file_that_becomes_a_symbolic_link_into_the_lake_is_not_read(
    behind_links: tuple[Objects, Path], tmp_path: Path
) -> None:
    objects, secret = behind_links
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"fresh")
    assert link(objects, "mine", f"file://{outside}").status_code == 200
    outside.unlink()
    outside.symlink_to(secret)
    answer = objects.get("mine")
    assert (answer.status_code, answer.json["code"]) == (403, "folder-not-allowed")
