# SPDX-License-Identifier: Apache-2.0
"""Clocks over REST: a commit's place, and what two commits are to each other."""

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_tasks import commit, make_repository, put

REPOSITORY = "/repositories/lake-1"
CLOCKS = f"{REPOSITORY}/clocks"


@pytest.fixture
def commits(api: Api) -> list[str]:
    """Make two commits on main and one on dev, which left main after the first."""
    make_repository(api)
    put(api, REPOSITORY, "a", b"1")
    first = commit(api, REPOSITORY)
    told = {"name": "dev", "source": "main"}
    assert api.post(f"{REPOSITORY}/branches", json=told).status_code == 201
    put(api, REPOSITORY, "b", b"2")
    put(api, REPOSITORY, "c", b"3", "dev")
    return [first, commit(api, REPOSITORY), commit(api, REPOSITORY, branch="dev")]


def test_a_commit_has_a_clock_and_two_names(api: Api, commits: list[str]) -> None:
    found = api.get(f"{CLOCKS}/commit", params={"commit": "main"}).json
    assert (found["ID"], found["id"]) == ("lake-1/main/2", commits[1])
    assert found["clocks"][-1]["commit"] == 2
    by_number = api.get(f"{CLOCKS}/commit", params={"commit": "lake-1/main/2"}).json
    assert by_number == found
    assert api.get(f"{CLOCKS}/commit", params={"commit": "nobody"}).status_code == 404


def test_kinship_tells_ancestors_and_where_two_parted(api: Api, commits: list[str]) -> None:
    first, main, dev = commits
    parted = api.get(f"{CLOCKS}/kinship", params={"one": main, "other": "dev"}).json
    assert parted == {
        "one": main, "other": dev, "one_is_ancestor": False, "other_is_ancestor": False,
        "merge_base": first, "ahead": 1, "behind": 1,
    }  # fmt: skip
    behind = api.get(f"{CLOCKS}/kinship", params={"one": first, "other": dev}).json
    assert (behind["one_is_ancestor"], behind["other_is_ancestor"]) == (True, False)
    assert (behind["ahead"], behind["behind"]) == (0, 1)


def test_history_is_told_as_places(api: Api, commits: list[str]) -> None:
    asked = {"to_commit": "main", "from_commit": commits[0]}
    found = api.get(f"{CLOCKS}/history", params=asked).json
    assert found["commits"] == 1
    (span,) = found["spans"]
    assert (span["first"], span["last"]) == (2, 2)
    whole = api.get(f"{CLOCKS}/history", params={"to_commit": "main"}).json
    assert whole["commits"] == 3
    wrong = {"to_commit": commits[0], "from_commit": "main", "strict": "true"}
    assert api.get(f"{CLOCKS}/history", params=wrong).json["code"] == "not-an-ancestor"


def test_rel_S16_clocks_need_the_right_to_commits(api: Api, commits: list[str]) -> None:
    arn = "arn:lakefs:fs:::repository/lake-1"
    bob = api.user("bob", Statement(effect="allow", action=("fs:ReadObject",), resource=arn + "*"))
    verbs = {"commit": ("commit",), "kinship": ("one", "other"), "history": ("to_commit",)}
    for verb, names in verbs.items():
        params = dict.fromkeys(names, commits[0])
        assert bob.get(f"{CLOCKS}/{verb}", params=params).status_code == 403
        assert api.get(f"{CLOCKS}/{verb}", params=params).status_code == 200
