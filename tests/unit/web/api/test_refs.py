# SPDX-License-Identifier: Apache-2.0
"""Refs over REST: logs, diffs, merges, merge bases."""

import pytest

from lochan.model.access import Statement
from lochan.model.ids import BranchName
from lochan.operations.reset import contended
from lochan.web.errors import error_reply
from support.web import Api
from support.web_lakes import WebLake

ARN = "arn:lakefs:fs:::repository/readings/branch/"


@pytest.fixture
def lake(api: Api) -> WebLake:
    return WebLake.made(api)


@pytest.fixture
def parted(lake: WebLake) -> WebLake:
    """Part dev from main: both changed both, main ours, dev theirs and same; same on both."""
    lake.put("main", "both", b"0")
    lake.commit("main", "base")
    lake.branch("dev")
    for branch, mine in (("main", "ours"), ("dev", "theirs")):
        lake.put(branch, "both", mine.encode())
        lake.put(branch, mine)
        lake.put(branch, "same", b"equal")
        lake.commit(branch, mine)
    return lake


def messages(lake: WebLake, ref: str = "main", **params: object) -> list[str]:
    return [each["message"] for each in lake.get(f"/refs/{ref}/commits", **params).json["results"]]


def history(lake: WebLake) -> None:
    for number, path in enumerate(("a/1", "b", "a/2", "b")):
        lake.put("main", path, str(number).encode())
        lake.commit("main", f"{number} {path}", date=1_000_000_000 + number)


def test_a_log_is_paged_by_commit_id(lake: WebLake) -> None:
    history(lake)
    page = lake.get("/refs/main/commits", amount=2).json
    last = page["results"][-1]["id"]
    assert page["pagination"] == {
        "has_more": True, "next_offset": last, "results": 2, "max_per_page": 1000,
    }  # fmt: skip
    assert messages(lake, amount=2, after=last) == ["1 b", "0 a/1"]
    assert lake.get("/refs/main/commits", after="ab" * 32).status_code == 404
    assert lake.get("/refs/nowhere/commits").status_code == 404


def test_a_limited_log_says_that_there_is_no_more(lake: WebLake) -> None:
    history(lake)
    page = lake.get("/refs/main/commits", amount=2, limit="true").json["pagination"]
    assert (page["results"], page["has_more"], page["next_offset"]) == (2, False, "")


def test_a_log_of_paths_names_several(lake: WebLake) -> None:
    history(lake)
    assert messages(lake, objects="b") == ["3 b", "1 b"]
    assert messages(lake, prefixes="a/") == ["2 a/2", "0 a/1"]
    assert messages(lake, objects=["a/1", "b"]) == ["3 b", "1 b", "0 a/1"]
    assert messages(lake, objects="b", prefixes="a/2") == ["3 b", "2 a/2", "1 b"]


def test_a_log_ends_at_a_date_or_a_commit(lake: WebLake) -> None:
    history(lake)
    assert messages(lake, since="2001-09-09T01:46:42Z") == ["3 b", "2 a/2"]
    assert messages(lake, stop_at="main~1") == ["3 b", "2 a/2"]
    assert messages(lake, "main~3") == ["0 a/1", "Repository created"]


@pytest.mark.parametrize("since", ["2001", "-102", "1e9", "2001-09-09", "2001-09-09T01:46:42", ""])
def test_a_date_of_a_log_without_its_time_and_zone_is_refused(lake: WebLake, since: str) -> None:
    history(lake)
    answer = lake.get("/refs/main/commits", since=since)
    assert answer.status_code == 400
    assert f"the parameter 'since' is {since!r}" in answer.json["message"]


def test_a_log_leaves_merges_out_by_path_and_follows_first_parents(parted: WebLake) -> None:
    parted.merge("dev", "main", strategy="source-wins", message="merge")
    assert "merge" in messages(parted)
    assert messages(parted, objects="theirs") == ["theirs"]
    assert "theirs" not in messages(parted, first_parent="true")


def test_rel_S16_a_log_needs_a_right_on_the_branch_whatever_stands_behind_its_name(
    lake: WebLake,
) -> None:
    bob = WebLake(
        lake.api.user(
            "bob",
            Statement(effect="allow", action=("fs:*",), resource="*"),
            Statement(effect="deny", action=("fs:ReadBranch",), resource=ARN + "main"),
        )
    )
    lake.branch("dev")
    for ref in ("main", "main~0", "main@", "main%5E0"):
        assert bob.get(f"/refs/{ref}/commits").status_code == 403
    assert bob.get("/refs/dev/commits").status_code == 200


def test_three_dots_tell_what_a_merge_would_meet(parted: WebLake) -> None:
    expected = [("conflict", "both"), ("added", "theirs")]
    assert parted.paths("/refs/main/diff/dev") == expected
    assert parted.paths("/refs/main/diff/dev", type="three_dot") == expected


def test_two_dots_tell_what_differs(parted: WebLake) -> None:
    where = "/refs/main/diff/dev"
    expected = [("changed", "both"), ("removed", "ours"), ("added", "theirs")]
    assert parted.paths(where, type="two_dot") == expected
    assert parted.paths(where, type="two_dot", prefix="t") == [("added", "theirs")]
    assert parted.paths(where, type="two_dot", after="both", amount=1) == [("removed", "ours")]
    assert parted.get(where, type="four_dot").status_code == 400
    assert parted.get("/refs/main/diff/nowhere").status_code == 404


def test_two_dots_take_what_is_staged_on_the_right(parted: WebLake) -> None:
    parted.put("main", "staged")
    assert parted.paths("/refs/main/diff/main$", type="two_dot") == [("added", "staged")]
    assert parted.paths("/refs/main/diff/main", type="two_dot") == []


def test_a_diff_groups_prefixes_and_an_after_jumps_behind_one(lake: WebLake) -> None:
    lake.branch("dev")
    for path in ("a", "d/1", "d/2", "e/1"):
        lake.put("dev", path)
    lake.commit("dev")
    where = "/refs/main/diff/dev"
    rows = lake.get(where, delimiter="/").json["results"]
    assert rows[1] == {"type": "prefix_changed", "path": "d/", "path_type": "common_prefix"}
    page = lake.get(where, delimiter="/", amount=2).json["pagination"]
    assert (page["has_more"], page["next_offset"]) == (True, "d/")
    assert lake.paths(where, delimiter="/", after="d/") == [("prefix_changed", "e/")]
    assert lake.paths(where, delimiter="/", after="d/1") == [("prefix_changed", "e/")]


def test_a_diff_describes_the_right_side_if_asked(parted: WebLake) -> None:
    where = "/refs/main/diff/dev"
    rows = parted.get(where, type="two_dot", include_right_stats="true").json["results"]
    assert [("right" in row) for row in rows] == [True, False, True]
    assert set(rows[0]["right"]) >= {"checksum", "mtime", "content_type"}
    assert "right" not in parted.get(where).json["results"][0]


def test_a_merge_gives_its_commit_and_the_message_of_lakefs(lake: WebLake) -> None:
    lake.branch("dev")
    lake.put("dev", "a")
    source = lake.commit("dev")
    before = lake.head()["id"]
    merged = lake.merge("dev", "main", metadata={"k": "v"})
    made = lake.head()
    assert (merged.status_code, merged.json) == (200, {"reference": made["id"]})
    assert made["message"] == "Merge 'dev' into 'main'"
    assert made["metadata"] == {"k": "v", ".lakefs.merge.strategy": "default"}
    assert (made["parents"], made["committer"]) == ([before, source["id"]], "admin")


def test_a_merge_needs_no_body(lake: WebLake) -> None:
    lake.branch("dev")
    lake.commit("dev")
    answer = lake.api.post("/repositories/readings/refs/dev/merge/main")
    assert answer.status_code == 200


def test_a_conflict_is_told_by_an_empty_reference(parted: WebLake) -> None:
    head = parted.head()
    answer = parted.merge("dev", "main")
    assert (answer.status_code, answer.json) == (409, {"reference": ""})
    assert parted.head() == head


@pytest.mark.parametrize(("strategy", "kept"), [("source-wins", "dev"), ("dest-wins", "main~1")])
def test_a_strategy_settles_conflicts_and_is_written_down(
    parted: WebLake, strategy: str, kept: str
) -> None:
    assert parted.merge("dev", "main", strategy=strategy).status_code == 200
    assert parted.head()["metadata"] == {".lakefs.merge.strategy": strategy}
    differing = parted.paths(f"/refs/{kept}/diff/main", type="two_dot", prefix="both")
    assert differing == []


def test_a_merge_of_nothing_or_by_no_strategy_or_over_staged_changes_is_wrong(
    parted: WebLake,
) -> None:
    nothing = parted.merge("main", "main")
    assert (nothing.status_code, nothing.json["code"]) == (400, "no-changes")
    assert parted.merge("main", "main", allow_empty=True).status_code == 200
    assert parted.merge("dev", "main", strategy="mine").status_code == 400
    parted.put("main", "staged")
    dirty = parted.merge("dev", "main", strategy="dest-wins")
    assert (dirty.status_code, dirty.json["code"]) == (400, "dirty-branch")
    assert parted.merge("dev", "nowhere").status_code == 404
    assert parted.merge("nowhere", "main").status_code == 404


def test_a_squashed_merge_has_one_parent(lake: WebLake) -> None:
    lake.branch("dev")
    lake.put("dev", "a")
    lake.commit("dev")
    before = lake.head()["id"]
    assert lake.merge("dev", "main", squash_merge=True).status_code == 200
    assert lake.head()["parents"] == [before]


def test_a_branch_that_never_stands_still_is_too_many_requests() -> None:
    answer = error_reply(contended(BranchName("main")))
    assert (answer.status, answer.headers["retry-after"]) == (429, "1")


def test_a_merge_goes_into_a_protected_branch(lake: WebLake) -> None:
    lake.branch("dev")
    lake.put("dev", "a")
    lake.commit("dev")
    lake.post("/branch_protection", {"pattern": "main"})
    assert lake.merge("dev", "main").status_code == 200


def test_rel_S16_a_merge_needs_a_right_on_its_destination(lake: WebLake) -> None:
    lake.branch("dev")
    read = Statement(effect="allow", action=("fs:Read*", "fs:List*"), resource="*")
    write = Statement(effect="allow", action=("fs:CreateCommit",), resource=ARN + "dev")
    bob = WebLake(lake.api.user("bob", read, write))
    lake.commit("main")
    lake.commit("dev")
    assert bob.merge("dev", "main").status_code == 403
    assert bob.merge("main", "dev").status_code == 200


def test_a_merge_base_is_told_with_the_sides_swapped_as_in_lakefs(parted: WebLake) -> None:
    found = parted.get("/refs/dev/merge/main").json
    assert found == {
        "source_commit_id": parted.head("main")["id"],
        "destination_commit_id": parted.head("dev")["id"],
        "base_commit_id": parted.head("main~1")["id"],
    }
