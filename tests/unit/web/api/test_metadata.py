# SPDX-License-Identifier: Apache-2.0
"""Metadata files over REST: where they lie and their bytes, for who may read everything."""

import pytest

from lochan.model.access import Statement
from lochan.objects.walk import walk
from support.web import Api
from support.web_tasks import commit, make_repository, put

LAKE = "arn:lakefs:fs:::repository/lake-1"
REPOSITORY = "/repositories/lake-1"


def with_tree(api: Api) -> tuple[str, str]:
    """Make a repository with a commit; give its metarange and one range."""
    make_repository(api)
    put(api, REPOSITORY, "a", b"1")
    tree = api.get(f"{REPOSITORY}/commits/{commit(api, REPOSITORY)}").json["meta_range_id"]
    repository = api.services.repositories.fresh("lake-1")
    objects = api.services.lake.storage(repository.storage_namespace).objects
    names = {found.address.removeprefix("_lakefs/") for found in walk(objects, "_lakefs/")}
    (part,) = names - {tree, "dummy"}
    return tree, part


def test_files_lie_in_the_repositorys_namespace(api: Api) -> None:
    tree, part = with_tree(api)
    namespace = api.get(REPOSITORY).json["storage_namespace"]
    found = api.get(f"{REPOSITORY}/metadata/meta_range/{tree}")
    assert found.json == {"location": f"{namespace}/_lakefs/{tree}"}
    found = api.get(f"{REPOSITORY}/metadata/range/{part}")
    assert found.json == {"location": f"{namespace}/_lakefs/{part}"}


@pytest.mark.parametrize("presign", ["false", "true"])
def test_their_bytes_are_those_of_the_store(api: Api, presign: str) -> None:
    tree, part = with_tree(api)
    repository = api.services.repositories.fresh("lake-1")
    objects = api.services.lake.storage(repository.storage_namespace).objects
    for kind, name in (("meta_range", tree), ("range", part)):
        path = f"{REPOSITORY}/metadata/object/{kind}/{name}"
        answer = api.get(path, params={"presign": presign})
        assert answer.content == objects.get(f"_lakefs/{name}").read()
        assert answer.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize("name", ["0" * 64, "..%2F..%2Fkv.db", "refs_manifest.json", "A" * 64])
def test_rel_S21_only_files_that_are_there_are_found_and_by_their_ids_alone(
    api: Api, name: str
) -> None:
    make_repository(api)
    for kind in ("meta_range", "range", "object/range", "object/other"):
        answer = api.get(f"{REPOSITORY}/metadata/{kind}/{name}")
        assert answer.status_code in {400, 404}, answer.text


@pytest.mark.parametrize("number", range(3))
def test_rel_S16_metadata_needs_the_right_to_all_of_the_repository(api: Api, number: int) -> None:
    tree, part = with_tree(api)
    rights = [("fs:ReadRepository", LAKE), ("fs:ListObjects", LAKE)]
    rights.append(("fs:ReadObject", f"{LAKE}/object/*"))
    action, _ = rights[number]
    # A part of the objects is not all of them.
    rights[number] = (action, f"{LAKE}/object/a*")
    some = [Statement(effect="allow", action=(name,), resource=arn) for name, arn in rights]
    bob = api.user("bob", *some)
    for path in (f"meta_range/{tree}", f"range/{part}", f"object/range/{part}"):
        assert bob.get(f"{REPOSITORY}/metadata/{path}").status_code == 403
