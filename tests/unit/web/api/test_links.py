# SPDX-License-Identifier: Apache-2.0
"""Many objects below a folder's address, linked in one request."""

import pytest
from falcon.testing import Result

from support.object_routes import OBJECT, Objects, allow
from support.web import Api


@pytest.fixture
def objects(api: Api) -> Objects:
    return Objects.made(api)


def folder_address(objects: Objects, path: str = "t/") -> str:
    answer = objects.api.get(f"{objects.branch}/staging/backing", params={"path": path})
    return str(answer.json["physical_address"])


def store(objects: Objects, physical: str, body: bytes = b"one") -> None:
    repository = objects.api.services.repositories.fresh("lake")
    storage = objects.api.services.lake.storage(repository.storage_namespace)
    address = physical.removeprefix(f"{repository.storage_namespace}/")
    storage.objects.put(address, body)


def row(path: str, physical: str, size: int = 3) -> dict[str, object]:
    return {"path": path, "physical_address": physical, "checksum": "c", "size_bytes": size}


def link(objects: Objects, *rows: dict[str, object], folder: str = "t/") -> Result:
    body = {"folder": folder, "objects": list(rows)}
    return objects.api.post(f"{objects.branch}/objects/link", json=body)


def test_objects_below_an_address_are_linked_below_its_folder(objects: Objects) -> None:
    top = folder_address(objects)
    for name in ("a=1/x.parquet", "y.parquet"):
        store(objects, f"{top}/{name}")
    answer = link(
        objects,
        row("t/a=1/x.parquet", f"{top}/a=1/x.parquet"),
        row("t/elsewhere.parquet", f"{top}/y.parquet"),
    )

    assert (answer.status_code, answer.json) == (200, {"linked": 2})
    assert objects.get("t/a=1/x.parquet").content == b"one"
    assert objects.get("t/elsewhere.parquet").content == b"one"


def test_the_root_is_a_folder_too(objects: Objects) -> None:
    top = folder_address(objects, "/")
    store(objects, f"{top}/x")

    assert link(objects, row("x", f"{top}/x"), folder="/").status_code == 200


@pytest.mark.parametrize(
    ("path", "folder"), [("u/x", "t/"), ("t/x", "u/"), ("t/x", "t"), ("t/x", ""), ("tx", "/")]
)
def test_rel_S16_an_address_is_linked_below_its_own_folder_alone(
    objects: Objects, path: str, folder: str
) -> None:
    top = folder_address(objects)
    store(objects, f"{top}/x")
    answer = link(objects, row(path, f"{top}/x"), folder=folder)

    assert (answer.status_code, answer.json["code"]) == (400, "link-invalid")


@pytest.mark.parametrize("name", ["../x", "a/../../x", "./x", "a//x", ""])
def test_rel_S16_no_address_leads_out_of_its_folder(objects: Objects, name: str) -> None:
    top = folder_address(objects)
    store(objects, f"{top}/{name}")
    assert link(objects, row("t/x", f"{top}/{name}")).json["code"] == "link-invalid"


def test_an_address_of_one_object_is_no_folder(objects: Objects) -> None:
    top = folder_address(objects, "t/x")
    store(objects, top)

    assert link(objects, row("t/x", top)).json["code"] == "link-invalid"


def test_one_that_is_missing_or_of_another_size_stops_all(objects: Objects) -> None:
    top = folder_address(objects)
    store(objects, f"{top}/x")

    assert link(objects, row("t/x", f"{top}/x"), row("t/y", f"{top}/y")).status_code == 404
    assert link(objects, row("t/x", f"{top}/x", 4)).json["code"] == "link-size"
    assert objects.get("t/x").status_code == 404


def test_rel_S16_each_path_needs_the_right_to_write_it(objects: Objects) -> None:
    top = folder_address(objects)
    for name in ("x", "y"):
        store(objects, f"{top}/{name}")
    rows = [row("t/x", f"{top}/x"), row("t/y", f"{top}/y")]
    half = objects.as_user("half", allow("fs:WriteObject", on=OBJECT + "t/x"))

    assert link(half, *rows).status_code == 403
    assert objects.get("t/x").status_code == 404
