# SPDX-License-Identifier: Apache-2.0
"""The verbs of 2016 over REST: commits that are started, get files, and are finished."""

from typing import Any

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_tasks import commit, make_repository, put

LAKE = "arn:lakefs:fs:::repository/lake-1"
PFS = "/repositories/lake-1/pfs"


@pytest.fixture
def api(api: Api) -> Api:
    make_repository(api)
    return api


def start(api: Api, **told: object) -> str:
    answer = api.post(f"{PFS}/start-commit", json=told)
    assert answer.status_code == 201, answer.text
    return str(answer.json["id"])


def write(api: Api, opened: str, path: str, data: bytes, **params: str) -> None:
    asked = {"commit": opened, "path": path, **params}
    answer = api.post(f"{PFS}/put-file", params=asked, body=data)
    assert answer.status_code == 204, answer.text


def finish(api: Api, opened: str, **told: object) -> str:
    answer = api.post(f"{PFS}/finish-commit", json={"id": opened, **told})
    assert answer.status_code == 200, answer.text
    return str(answer.json["id"])


def grown(api: Api, *files: tuple[str, bytes], branch: str = "main") -> str:
    opened = start(api, branch=branch)
    for path, data in files:
        write(api, opened, path, data)
    return finish(api, opened)


def get(api: Api, verb: str, **params: object) -> dict[str, Any]:
    answer = api.get(f"{PFS}/{verb}", params=params)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json
    return told


def content(api: Api, path: str, to: str, since: str = "") -> bytes:
    params = {"path": path, "to_commit": to, **({"from_commit": since} if since else {})}
    answer = api.get(f"{PFS}/get-file", params=params)
    assert answer.status_code == 200, answer.text
    return bytes(answer.content)


def test_a_commit_is_started_gets_files_and_is_finished(api: Api) -> None:
    opened = start(api, branch="main")
    write(api, opened, "logs/a", b"one ")
    write(api, opened, "logs/a", b"two")
    assert content(api, "logs/a", opened) == b"one two"
    made = finish(api, opened, message="done", metadata={"k": "v"})
    found = api.get(f"/repositories/lake-1/commits/{made}").json
    assert (found["message"], found["metadata"]["k"], found["committer"]) == ("done", "v", "admin")
    assert content(api, "logs/a", "main") == b"one two"
    assert content(api, "logs/a", "lake-1/main/1") == b"one two"
    again = api.post(f"{PFS}/finish-commit", json={"id": opened})
    assert (again.status_code, again.json["code"]) == (409, "not-open")


def test_a_put_may_replace_what_is_there(api: Api) -> None:
    grown(api, ("a", b"old"))
    opened = start(api, branch="main")
    write(api, opened, "a", b"new", mode="overwrite")
    finish(api, opened)
    assert content(api, "a", "main") == b"new"


def test_a_file_is_read_from_a_commit_on_and_by_ranges(api: Api) -> None:
    first = grown(api, ("a", b"one "))
    second = grown(api, ("a", b"two"))
    assert content(api, "a", second, first) == b"two"
    asked = {"path": "a", "to_commit": second}
    part = api.get(f"{PFS}/get-file", params=asked, headers={"range": "bytes=2-4"})
    assert (part.status_code, part.content) == (206, b"e t")
    since = get(api, "inspect-file", path="a", to_commit=second, from_commit=first)
    assert (since["kind"], since["size"], len(since["blockrefs"])) == ("file", 3, 1)
    nothing = {"path": "a", "to_commit": first, "from_commit": first}
    assert api.get(f"{PFS}/get-file", params=nothing).status_code == 404


def test_a_large_body_goes_through_in_blocks(api: Api) -> None:
    data = bytes(range(256)) * (40 << 10)  # 10 MiB: more than a block
    made = grown(api, ("big", data))
    assert len(get(api, "inspect-file", path="big", to_commit=made)["blockrefs"]) == 2
    assert content(api, "big", made) == data


def test_directories_are_listed_by_pages(api: Api) -> None:
    grown(api, ("d/x/1", b"1"), ("d/x/2", b"2"), ("d/y", b"33"), ("d/z/1", b""), ("e", b""))
    seen, after = [], ""
    while True:
        page = get(api, "list-file", commit="main", path="d", amount=1, after=after)
        seen += [(row["path"], row["kind"], row["size"]) for row in page["results"]]
        after = page["pagination"]["next_offset"]
        if not page["pagination"]["has_more"]:
            break
    assert seen == [("d/x", "directory", 0), ("d/y", "file", 2), ("d/z", "directory", 0)]
    root = get(api, "list-file", commit="main")["results"]
    assert [row["path"] for row in root] == ["d", "e"]


def test_a_deleted_directory_is_gone_when_the_commit_is_finished(api: Api) -> None:
    grown(api, ("d/x", b"1"), ("d/y", b"2"), ("e", b"3"))
    opened = start(api, branch="main")
    asked = {"commit": opened, "path": "d"}
    assert api.delete(f"{PFS}/delete-file", params=asked).status_code == 204
    finish(api, opened)
    assert [row["path"] for row in get(api, "list-file", commit="main")["results"]] == ["e"]


def test_a_commit_is_described_open_and_finished(api: Api) -> None:
    opened = start(api, branch="main")
    info = get(api, "inspect-commit", commit=opened)
    assert (info["ID"], info["clocks"]) == (opened, [])
    assert "finished" not in info
    assert "id" not in info
    made = finish(api, opened)
    info = get(api, "inspect-commit", commit=made)
    assert (info["ID"], info["id"], info["repo"]) == ("lake-1/main/1", made, "lake-1")
    assert info["clocks"][-1]["commit"] == 1


def test_a_cancelled_commit_says_why_and_takes_no_files(api: Api) -> None:
    opened = start(api, branch="main")
    told = {"id": opened, "error": "no data"}
    assert api.post(f"{PFS}/cancel-commit", json=told).status_code == 204
    assert get(api, "inspect-commit", commit=opened)["error"] == "no data"
    asked = {"commit": opened, "path": "a"}
    assert api.post(f"{PFS}/put-file", params=asked, body=b"x").status_code == 409


@pytest.mark.parametrize("verb", ["history", "list-commit"])
def test_commits_are_listed_by_pages_each_once(api: Api, verb: str) -> None:
    made = [grown(api, ("a", b"x")) for _ in range(4)]
    asked: dict[str, object] = {"to_commit": "main"} if verb == "history" else {"branch": "main"}
    seen, after = [], ""
    while True:
        page = get(api, verb, **asked, amount=2, after=after)
        seen += [row["id"] for row in page["results"]]
        after = page["pagination"]["next_offset"]
        if not after:
            break
    assert seen[1:] == made
    assert api.get(f"{PFS}/{verb}", params={**asked, "after": "0" * 64}).status_code == 404
    assert api.get(f"{PFS}/{verb}", params={**asked, "after": "x"}).status_code == 400


def test_history_is_what_one_commit_has_and_another_has_not(api: Api) -> None:
    first, second = grown(api, ("a", b"1")), grown(api, ("a", b"2"))
    found = get(api, "history", to_commit=second, from_commit=first)["results"]
    assert [row["id"] for row in found] == [second]
    wrong = {"to_commit": first, "from_commit": second, "strict": "true"}
    assert api.get(f"{PFS}/history", params=wrong).json["code"] == "not-an-ancestor"


@pytest.mark.parametrize("count", [2, 1], ids=["replay", "squash"])
def test_commits_are_merged_by_replay_and_by_squash(api: Api, count: int) -> None:
    opened = start(api, parent="main", branch="dev")
    write(api, opened, "b", b"1")
    sources = [finish(api, opened), grown(api, ("b", b"2"), branch="dev")]
    told = {"from_commits": sources[1:], "branch": "main", "squash": count == 1}
    answer = api.post(f"{PFS}/merge-commits", json=told)
    assert answer.status_code == 201, answer.text
    assert len(answer.json["commits"]) == count
    assert content(api, "b", "main") == b"12"
    told = {"from_commits": ["main~1"], "branch": "main"}
    assert api.post(f"{PFS}/merge-commits", json=told).json == {"commits": []}
    assert api.post(f"{PFS}/merge-commits", json={"from_commits": ["dev"]}).status_code == 400


def test_the_diffs_of_a_commit_are_told_path_by_path(api: Api) -> None:
    grown(api, ("d/x", b"1"))
    made = grown(api, ("d/x", b"22"), ("d/y", b"3"))
    rows, after = [], ""
    while True:
        page = get(api, "diffs", commit=made, amount=1, after=after)
        rows += page["results"]
        after = page["pagination"]["next_offset"]
        if not after:
            break
    assert [(row["path"], row["size"]) for row in rows] == [("d/x", 2), ("d/y", 1), ("d", 0)]
    assert rows[2]["appends"][0]["children"] == {"y": True}
    assert rows[0]["ID"] == "lake-1/main/2:d/x"
    only = get(api, "diffs", commit=made, path="d/y")["results"]
    assert [row["path"] for row in only] == ["d/y"]
    wrong = {"commit": made, "after": "nothing"}
    assert api.get(f"{PFS}/diffs", params=wrong).json["code"] == "invalid-after"


def allow(action: str, resource: str) -> Statement:
    return Statement(effect="allow", action=(action,), resource=resource)


def test_rel_S16_starting_and_finishing_need_rights_on_the_branch_they_come_to(api: Api) -> None:
    head = api.get("/repositories/lake-1/branches/main").json["commit_id"]
    dev = api.user("dev", allow("fs:CreateCommit", f"{LAKE}/branch/dev"))
    everybody: tuple[dict[str, object], ...] = (
        {"branch": "main"},  # another branch
        {"parent": head},  # which goes on on main
        {"branch": "dev"},  # which is new
        {},  # a fresh one
    )
    for told in everybody:
        assert dev.post(f"{PFS}/start-commit", json=told).status_code == 403, told
    opened = start(api, branch="main")
    for verb in ("finish-commit", "cancel-commit"):
        assert dev.post(f"{PFS}/{verb}", json={"id": opened}).status_code == 403
    merging = {"from_commits": ["main"], "branch": "main"}
    assert dev.post(f"{PFS}/merge-commits", json=merging).status_code == 403
    both = api.user(
        "both", *(allow(f"fs:Create{what}", f"{LAKE}/*") for what in ("Commit", "Branch"))
    )
    finish(both, start(both, parent="main", branch="dev"))
    start(dev, branch="dev")


def test_rel_S16_files_need_rights_on_their_paths(api: Api) -> None:
    grown(api, ("a/x", b"1"), ("b", b"2"))
    opened = start(api, branch="main")
    actions = ("fs:ReadObject", "fs:WriteObject", "fs:DeleteObject")
    bob = api.user("bob", *(allow(action, f"{LAKE}/object/a/*") for action in actions))
    inside, outside = {"path": "a/x"}, {"path": "b"}
    for asked, status in ((inside, 200), (outside, 403)):
        for verb in ("get-file", "inspect-file"):
            params = {**asked, "to_commit": "main"}
            assert bob.get(f"{PFS}/{verb}", params=params).status_code == status
    for asked, status in ((inside, 204), (outside, 403)):
        params = {**asked, "commit": opened}
        assert bob.post(f"{PFS}/put-file", params=params, body=b"z").status_code == status
        assert bob.delete(f"{PFS}/delete-file", params=params).status_code == status
    # The directory holds more than what may be deleted.
    params = {"path": "a", "commit": opened}
    assert bob.delete(f"{PFS}/delete-file", params=params).status_code == 403
    assert bob.get(f"{PFS}/list-file", params={"commit": "main"}).status_code == 403


def test_rel_S16_a_listing_tells_no_address_of_what_may_not_be_read(api: Api) -> None:
    put(api, "/repositories/lake-1", "whole", b"1")
    commit(api, "/repositories/lake-1")
    bob = api.user("bob", allow("fs:ListObjects", LAKE))
    (row,) = get(bob, "list-file", commit="main")["results"]
    assert "blockrefs" not in row
    (row,) = get(api, "list-file", commit="main")["results"]
    assert len(row["blockrefs"]) == 1


def test_rel_S16_provenance_of_repositories_that_may_not_be_read_is_not_told(api: Api) -> None:
    make_repository(api, "other")
    head = api.get("/repositories/other/branches/main").json["commit_id"]
    source = {"repository_id": "other", "commit_id": head, "input": "in"}
    made = finish(api, start(api, branch="main", provenance=[source]))
    (told,) = get(api, "inspect-commit", commit=made)["provenance"]
    assert told == source
    bob = api.user("bob", allow("fs:*Commit*", LAKE), allow("fs:*", f"{LAKE}/*"))
    assert get(bob, "inspect-commit", commit=made)["provenance"] == []
    told = {"branch": "main", "provenance": [source]}
    assert bob.post(f"{PFS}/start-commit", json=told).status_code == 403
