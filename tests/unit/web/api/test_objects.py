# SPDX-License-Identifier: Apache-2.0
"""statObject, listObjects, metadata of objects: lakeFS's shapes and its quirks."""

import pytest

from lochan.model.ids import BranchName
from lochan.operations.commit import CommitRequest, commit
from support.object_routes import OBJECT, Objects, allow, deny
from support.web import Api


@pytest.fixture
def objects(api: Api) -> Objects:
    return Objects.made(api)


def test_stat_tells_metadata_always_and_hides_it_on_request(objects: Objects) -> None:
    objects.put("a", b"x")
    objects.upload("b", b"x", {"x-lakefs-meta-k": "v"})
    assert objects.stat("a").json["metadata"] == {}
    assert objects.stat("b").json["metadata"] == {"k": "v"}
    assert "metadata" not in objects.stat("b", user_metadata="false").json


def test_stat_of_what_is_not_there_is_404(objects: Objects) -> None:
    missing = objects.stat("nothing")
    assert (missing.status_code, missing.json["code"]) == (404, "object-not-found")
    assert Objects(objects.api).stat("x" * 1025).status_code == 400
    objects.ref = "/repositories/lake/refs/nowhere"
    assert objects.stat("a").status_code == 404
    objects.ref = "/repositories/other/refs/main"
    assert objects.stat("a").status_code == 404


def test_stat_by_commit_id_shows_what_was_committed(objects: Objects) -> None:
    objects.put("a", b"one")
    services = objects.api.services
    repository = services.repositories.fresh("lake")
    said = CommitRequest(committer="ann", message="m")
    made = commit(services.lake, repository, BranchName("main"), said)
    objects.put("a", b"three")
    assert objects.stat("a").json["size_bytes"] == 5
    objects.ref = f"/repositories/lake/refs/{made.id}"
    assert objects.stat("a").json["size_bytes"] == 3
    assert objects.get("a").content == b"one"


def test_stat_with_presign_gives_a_url_in_place_of_the_address(objects: Objects) -> None:
    objects.put("a", b"one")
    told = objects.stat("a", presign="true").json
    now = objects.api.services.lake.environment.now()
    assert now < told["physical_address_expiry"] <= now + 900
    assert objects.fetch("GET", told["physical_address"]).content == b"one"


def test_a_listing_leaves_out_metadata_that_is_empty(objects: Objects) -> None:
    objects.put("a")
    objects.upload("b", b"x", {"x-lakefs-meta-k": "v"})
    first, second = objects.listed()["results"]
    assert "metadata" not in first
    assert second["metadata"] == {"k": "v"}
    assert "metadata" not in objects.listed(user_metadata="false")["results"][1]


def test_a_delimiter_gives_prefixes_with_nothing_but_their_path(objects: Objects) -> None:
    for path in ("a/1", "a/2", "b", "c/d/e"):
        objects.put(path)
    rows = objects.listed(delimiter="/")["results"]
    assert [row["path"] for row in rows] == ["a/", "b", "c/"]
    assert rows[0] == {
        "path": "a/",
        "path_type": "common_prefix",
        "physical_address": "",
        "checksum": "",
        "mtime": 0,
    }
    assert [row["path"] for row in objects.listed(delimiter="/", prefix="c/")["results"]] == [
        "c/d/"
    ]


@pytest.mark.parametrize("delimiter", ["", "/"])
def test_pages_join_to_the_whole_whatever_their_size(objects: Objects, delimiter: str) -> None:
    for path in ("a/1", "a/2", "b", "c/d", "e"):
        objects.put(path)
    whole = [row["path"] for row in objects.listed(delimiter=delimiter)["results"]]
    found, after = [], ""
    while True:
        page = objects.listed(delimiter=delimiter, amount="2", after=after)
        found += [row["path"] for row in page["results"]]
        told = page["pagination"]
        assert told["results"] == len(page["results"])
        assert told["max_per_page"] == 1000
        assert bool(told["next_offset"]) is told["has_more"]
        if not told["has_more"]:
            break
        after = told["next_offset"]
    assert found == whole


def test_rel_S18_a_page_is_at_most_a_thousand(objects: Objects) -> None:
    objects.put("a")
    at = f"{objects.ref}/objects/ls"
    assert objects.api.get(at, params={"amount": "1001"}).status_code == 400
    for amount in ("0", "-1", "1000"):
        assert len(objects.listed(amount=amount)["results"]) == 1


def test_rel_S16_a_listing_hides_where_objects_lie_from_who_may_not_read_them(
    objects: Objects,
) -> None:
    objects.put("open/a", b"one")
    objects.put("shut/b", b"two")
    lister = objects.as_user(
        "ann",
        allow("fs:ListObjects", on="arn:lakefs:fs:::repository/lake"),
        allow("fs:ReadObject", on=OBJECT + "*"),
        deny("fs:ReadObject", on=OBJECT + "shut/*"),
    )
    for presign in ("true", "false"):
        shown, hidden = lister.listed(presign=presign)["results"]
        assert shown["physical_address"] != ""
        assert (hidden["path"], hidden["physical_address"]) == ("shut/b", "")
    assert lister.stat("shut/b").status_code == 403
    assert lister.stat("open/a").json["physical_address"].startswith("local://")


def test_rel_S16_a_listing_needs_its_own_right(objects: Objects) -> None:
    reader = objects.as_user("ann", allow("fs:ReadObject", "fs:WriteObject", on="*"))
    assert reader.listed()["code"] == "permission-denied"


def test_metadata_of_an_object_is_replaced_and_its_content_stays(objects: Objects) -> None:
    objects.upload("a", b"one", {"x-lakefs-meta-old": "1", "content-type": "text/csv"})
    before = objects.stat("a").json
    at = f"{objects.branch}/objects/stat/user_metadata"
    answer = objects.api.put(at, params={"path": "a"}, json={"set": {"new": "2"}})
    assert (answer.status_code, answer.content) == (204, b"")
    assert objects.stat("a").json == {**before, "metadata": {"new": "2"}}
    missing = objects.api.put(at, params={"path": "b"}, json={"set": {}})
    assert missing.status_code == 404
    assert objects.api.put(at, params={"path": "a"}, json={"set": {"k": 1}}).status_code == 400


def test_underlying_properties_are_those_of_an_object_that_is_there(objects: Objects) -> None:
    objects.put("a")
    at = f"{objects.ref}/objects/underlyingProperties"
    assert objects.api.get(at, params={"path": "a"}).json == {}
    assert objects.api.get(at, params={"path": "b"}).status_code == 404


def test_symlink_files_are_refused_with_501(objects: Objects) -> None:
    answer = objects.api.post(f"{objects.ref}/symlink")
    assert (answer.status_code, answer.json["code"]) == (501, "not-implemented")
