# SPDX-License-Identifier: Apache-2.0
"""Branches over REST: made, listed, reset, reverted, cherry-picked."""

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_lakes import HERE, WebLake

ARN = "arn:lakefs:fs:::repository/readings/branch/"


@pytest.fixture
def lake(api: Api) -> WebLake:
    return WebLake.made(api)


def ids(lake: WebLake, **params: object) -> list[str]:
    return [each["id"] for each in lake.get("/branches", **params).json["results"]]


def test_a_branch_that_was_made_is_answered_with_its_commit_as_plain_text(lake: WebLake) -> None:
    made = lake.post("/branches", {"name": "dev", "source": "main"})
    head = lake.head()["id"]
    assert (made.status_code, made.text) == (201, head)
    assert made.headers["content-type"].startswith("text/plain")
    assert lake.get("/branches/dev").json == {"id": "dev", "commit_id": head}
    assert lake.post("/branches", {"name": "dev", "source": "main"}).status_code == 409
    assert lake.post("/branches", {"name": "e", "source": "nowhere"}).status_code == 404
    assert lake.post("/branches", {"name": "a/b", "source": "main"}).status_code == 400
    assert lake.get("/branches/nowhere").status_code == 404


def test_a_branch_is_made_of_any_ref(lake: WebLake) -> None:
    first = lake.head()["id"]
    lake.commit("main")
    for number, source in enumerate(("main~1", first, first[:12])):
        assert lake.branch(f"b{number}", source) == first


def test_hidden_branches_are_left_out_before_they_are_counted(lake: WebLake) -> None:
    for name, hidden in (("a", True), ("b", False), ("c", True), ("d", False)):
        lake.branch(name, hidden=hidden)
    assert ids(lake) == ["b", "d", "main"]
    assert ids(lake, show_hidden="true") == ["a", "b", "c", "d", "main"]
    page = lake.get("/branches", amount=2).json["pagination"]
    assert page == {"has_more": True, "next_offset": "d", "results": 2, "max_per_page": 1000}
    assert ids(lake, amount=2, after="d") == ["main"]
    assert ids(lake, prefix="m") == ["main"]


def test_the_default_branch_and_protected_ones_are_not_deleted(lake: WebLake) -> None:
    lake.branch("dev")
    lake.branch("kept")
    rules = [{"pattern": "kept"}]
    assert lake.api.put(HERE + "/settings/branch_protection", json=rules).status_code == 204
    assert lake.api.delete(HERE + "/branches/main").status_code == 403
    assert lake.api.delete(HERE + "/branches/kept").status_code == 403
    assert lake.api.delete(HERE + "/branches/dev").status_code == 204
    assert lake.api.delete(HERE + "/branches/dev").status_code == 404


def test_what_is_staged_is_told_with_sizes_prefixes_and_pages(lake: WebLake) -> None:
    lake.put("main", "a", b"12")
    lake.put("main", "old", b"1")
    lake.commit("main")
    lake.put("main", "a", b"123")
    lake.put("main", "dir/x")
    lake.put("main", "dir/y")
    lake.remove("main", "old")
    where = "/branches/main/diff"
    first = lake.get(where).json["results"][0]
    assert first == {"type": "changed", "path": "a", "path_type": "object", "size_bytes": 3}
    grouped = [("changed", "a"), ("prefix_changed", "dir/"), ("removed", "old")]
    assert lake.paths(where, delimiter="/") == grouped
    page = lake.get(where, delimiter="/", amount=2).json["pagination"]
    assert (page["has_more"], page["next_offset"]) == (True, "dir/")
    assert lake.paths(where, delimiter="/", after="dir/") == [("removed", "old")]
    assert lake.paths(where, prefix="dir/") == [("added", "dir/x"), ("added", "dir/y")]
    assert lake.paths(where, after="dir/x") == [("added", "dir/y"), ("removed", "old")]


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ({"type": "object", "path": "b/1"}, ["a", "b/2"]),
        ({"type": "common_prefix", "path": "b/"}, ["a"]),
        ({"type": "reset"}, []),
    ],
)
def test_staged_changes_are_reset_by_object_by_prefix_or_all(
    lake: WebLake, told: dict[str, str], left: list[str]
) -> None:
    for path in ("a", "b/1", "b/2"):
        lake.put("main", path)
    assert lake.api.put(HERE + "/branches/main", json=told).status_code == 204
    assert [path for _, path in lake.paths("/branches/main/diff")] == left


def test_a_reset_of_another_kind_is_a_wrong_request(lake: WebLake) -> None:
    for told in ({"type": "everything"}, {"type": "object", "path": ""}, {}):
        assert lake.api.put(HERE + "/branches/main", json=told).status_code == 400


def test_a_hard_reset_moves_a_clean_branch(lake: WebLake) -> None:
    first = lake.head()["id"]
    lake.put("main", "a")
    lake.commit("main")
    where = HERE + "/branches/main/hard_reset"
    lake.put("main", "b")
    assert lake.api.put(where, params={"ref": first}).status_code == 400  # dirty
    assert lake.api.put(HERE + "/branches/main", json={"type": "reset"}).status_code == 204
    assert lake.api.put(where, params={"ref": "main~1"}).status_code == 204
    assert lake.head()["id"] == first
    assert lake.api.put(where).status_code == 400  # no ref


def test_a_revert_undoes_a_commit_and_says_so(lake: WebLake) -> None:
    lake.put("main", "a")
    lake.commit("main", "add a")
    answer = lake.post("/branches/main/revert", {"ref": "main", "parent_number": 0})
    assert (answer.status_code, answer.text) == (204, "")
    assert lake.head()["message"] == "Revert main"
    assert lake.paths("/refs/main~2/diff/main", type="two_dot") == []
    again = {"ref": "main~2", "parent_number": 1, "commit_overrides": {"message": "no"}}
    assert lake.post("/branches/main/revert", again).status_code == 400  # the first commit


def test_a_revert_of_a_merge_without_parent_conflicts_and_a_pick_of_it_is_wrong(
    lake: WebLake,
) -> None:
    lake.branch("dev")
    lake.branch("clean")
    lake.put("dev", "a")
    lake.commit("dev")
    lake.merge("dev", "main")
    revert = {"ref": "main", "parent_number": 0}
    assert lake.post("/branches/main/revert", revert).status_code == 409
    assert lake.post("/branches/main/revert", revert | {"parent_number": 3}).status_code == 400
    assert lake.post("/branches/clean/cherry-pick", {"ref": "main"}).status_code == 400
    assert lake.post("/branches/main/revert", revert | {"parent_number": 1}).status_code == 204


def test_a_cherry_pick_is_a_commit_that_tells_where_it_is_from(lake: WebLake) -> None:
    lake.branch("dev")
    lake.put("dev", "a")
    picked = lake.commit("dev", "add a", metadata={"k": "v"})
    made = lake.post("/branches/main/cherry-pick", {"ref": "dev"})
    assert made.status_code == 201
    assert (made.json["message"], made.json["committer"]) == ("add a", "admin")
    assert made.json["metadata"] == {
        "k": "v", "cherry-pick-origin": picked["id"], "cherry-pick-committer": "admin",
    }  # fmt: skip
    assert lake.head().items() >= made.json.items()
    lake.put("dev", "b")
    lake.commit("dev")
    said = {"ref": "dev", "commit_overrides": {"message": "mine", "metadata": {"k": "w"}}}
    made = lake.post("/branches/main/cherry-pick", said)
    assert (made.json["message"], made.json["metadata"]["k"]) == ("mine", "w")


def test_a_conflict_of_a_revert_or_pick_is_one(lake: WebLake) -> None:
    lake.put("main", "a", b"1")
    lake.commit("main")
    lake.branch("dev", "main~1")
    lake.put("dev", "a", b"2")
    lake.commit("dev")
    assert lake.post("/branches/main/cherry-pick", {"ref": "dev"}).status_code == 409
    lake.put("main", "a", b"3")
    lake.commit("main")
    assert (
        lake.post("/branches/main/revert", {"ref": "main~1", "parent_number": 0}).status_code == 409
    )


def test_rel_S16_reverting_and_picking_need_a_right_on_the_branch(lake: WebLake) -> None:
    lake.put("main", "a")
    lake.commit("main")
    lake.branch("dev", "main~1")
    read = Statement(effect="allow", action=("fs:Read*", "fs:List*"), resource="*")
    write = Statement(effect="allow", action=("fs:CreateCommit",), resource=ARN + "dev")
    bob = WebLake(lake.api.user("bob", read, write))
    revert = {"ref": "main", "parent_number": 0}
    assert bob.post("/branches/main/revert", revert).status_code == 403
    assert bob.post("/branches/main/cherry-pick", {"ref": "dev"}).status_code == 403
    assert bob.api.put(HERE + "/branches/main/hard_reset", params={"ref": "dev"}).status_code == 403
    assert bob.post("/branches/dev/cherry-pick", {"ref": "main"}).status_code == 201
    eve = WebLake(lake.api.user("eve", write))  # who may not read the commit
    assert eve.post("/branches/dev/cherry-pick", {"ref": "main"}).status_code == 403
