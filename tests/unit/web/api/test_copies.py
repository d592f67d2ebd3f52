# SPDX-License-Identifier: Apache-2.0
"""copyObject, and rename by metadata."""

import pytest
from falcon.testing import Result

from lochan.model.ids import BranchName
from lochan.operations.branches import create_branch
from lochan.operations.reference import committed
from support.object_routes import OBJECT, Objects, allow, deny
from support.web import Api


@pytest.fixture
def objects(api: Api) -> Objects:
    return Objects.made(api)


def copy(objects: Objects, destination: str, **told: object) -> Result:
    at = f"{objects.branch}/objects/copy"
    return objects.api.post(at, params={"dest_path": destination}, json=told)


def rename(objects: Objects, source: str, destination: str, **told: object) -> Result:
    body = {"source": source, "destination": destination, **told}
    return objects.api.post(f"{objects.branch}/objects/rename", json=body)


def test_a_copy_within_a_branch_shares_the_bytes(objects: Objects) -> None:
    objects.upload("a", b"one", {"x-lakefs-meta-k": "v", "content-type": "text/csv"})
    answer = copy(objects, "b", src_path="a", shallow=True)
    before, after = objects.stat("a").json, objects.stat("b").json
    assert (answer.status_code, answer.json) == (201, after)
    for same in ("checksum", "physical_address", "metadata", "content_type", "size_bytes"):
        assert after[same] == before[same]


def test_a_copy_from_another_branch_has_bytes_of_its_own(objects: Objects) -> None:
    services = objects.api.services
    repository = services.repositories.fresh("lake")
    head = committed(services.lake, repository, "main")
    create_branch(services.lake, repository, BranchName("dev"), head)
    dev = Objects(objects.api)
    dev.branch, dev.ref = dev.branch.replace("main", "dev"), dev.ref.replace("main", "dev")
    dev.put("a", b"one")
    assert copy(objects, "b", src_path="a").status_code == 404
    assert copy(objects, "b", src_path="a", src_ref="dev").status_code == 201
    assert objects.get("b").content == b"one"
    assert objects.stat("b").json["physical_address"] != dev.stat("a").json["physical_address"]


def test_rel_S16_a_copy_needs_the_source_s_and_the_destination_s_right(objects: Objects) -> None:
    objects.put("a")
    rights = {
        "none": [],
        "reads": [allow("fs:ReadObject", on=OBJECT + "a")],
        "writes": [allow("fs:WriteObject", on=OBJECT + "b")],
        "both": [
            allow("fs:ReadObject", on=OBJECT + "a"),
            allow("fs:WriteObject", on=OBJECT + "b"),
        ],
    }
    found = {
        name: copy(objects.as_user(name, *given), "b", src_path="a").status_code
        for name, given in rights.items()
    }
    assert found == {"none": 403, "reads": 403, "writes": 403, "both": 201}


def test_an_object_is_renamed_without_its_bytes(objects: Objects) -> None:
    objects.put("a", b"one")
    objects.put("a2", b"two")
    before = objects.stat("a").json
    answer = rename(objects, "a", "c")
    assert (answer.status_code, answer.json) == (200, {"renamed": 1})
    assert objects.paths() == ["a2", "c"]
    assert objects.stat("c").json["physical_address"] == before["physical_address"]


def test_a_prefix_is_renamed_with_all_below_it(objects: Objects) -> None:
    for path in ("a/1", "a/2/3", "ab"):
        objects.put(path, path.encode())
    assert rename(objects, "a/", "c/d/").json == {"renamed": 2}
    assert objects.paths() == ["ab", "c/d/1", "c/d/2/3"]
    assert objects.get("c/d/2/3").content == b"a/2/3"


def test_a_rename_replaces_nothing_unless_it_is_told_to(objects: Objects) -> None:
    objects.put("a", b"one")
    objects.put("b", b"two")
    assert rename(objects, "a", "b").status_code == 409
    assert rename(objects, "a", "a").status_code == 400
    assert rename(objects, "nothing", "c").status_code == 404
    assert objects.paths() == ["a", "b"]
    assert rename(objects, "a", "b", overwrite=True).status_code == 200
    assert objects.get("b").content == b"one"


@pytest.mark.parametrize("missing", ["fs:ReadObject", "fs:DeleteObject", "fs:WriteObject"])
def test_rel_S16_a_rename_needs_every_right_on_every_key_and_moves_none_without(
    objects: Objects, missing: str
) -> None:
    for path in ("a/1", "a/2"):
        objects.put(path)
    place = OBJECT + ("c/2" if missing == "fs:WriteObject" else "a/2")
    all_rights = allow("fs:ReadObject", "fs:DeleteObject", "fs:WriteObject")
    some = objects.as_user("ann", all_rights, deny(missing, on=place))
    assert rename(some, "a/", "c/").status_code == 403
    assert rename(some, "a/2", "c/2").status_code == 403
    assert objects.paths() == ["a/1", "a/2"]
    assert rename(some, "a/1", "c/1").status_code == 200
