# SPDX-License-Identifier: Apache-2.0
"""Where commits and files came from, over REST, and who may know."""

from typing import Any

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_pipelines import TOTAL, WORDS, make_pipelines, put_books, run

FS = "arn:lakefs:fs:::repository"


@pytest.fixture
def api(api: Api) -> Api:
    make_pipelines(api, WORDS, TOTAL)
    run(api, "words")
    return api


def trace(api: Api, repository: str, **asked: str) -> dict[str, Any]:
    answer = api.get(f"/repositories/{repository}/refs/main/provenance", params=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json
    return found


def allow(action: str, resource: str) -> Statement:
    return Statement(effect="allow", action=(action,), resource=resource)


def names(found: dict[str, Any]) -> list[str]:
    return [one["repository"] for one in found["commits"]]


def test_all_that_made_a_commit_comes_before_it(api: Api) -> None:
    found = trace(api, "totals")
    assert names(found) == ["books", "words", "totals"]
    assert [edge["input"] for edge in found["edges"]] == ["text", "counts"]
    assert found["start"] == f"totals@{found['commits'][-1]['commit']}"
    assert found["commits"][-1]["pipeline"] == "total"
    assert found["svg"].startswith("<svg ")
    assert "digraph" in found["dot"]


def test_all_that_was_made_of_a_commit_comes_behind_it(api: Api) -> None:
    found = trace(api, "books", direction="down")
    assert names(found) == ["books", "words", "totals"]
    put_books(api, c="more")
    assert names(trace(api, "books", direction="down")) == ["books"]


def test_a_file_is_told_with_the_datum_that_wrote_it(api: Api) -> None:
    (step,) = trace(api, "words", path="a")["files"]
    assert [(one["repository"], one["path"]) for one in step["sources"]] == [("books", "a")]
    assert (step["pipeline"], step["results"][0]["path"]) == ("words", "a")
    (down,) = trace(api, "books", path="b", direction="down")["files"]
    assert [one["path"] for one in down["results"]] == ["b"]
    assert trace(api, "books", path="a")["files"] == []
    missing = api.get("/repositories/words/refs/main/provenance", params={"path": "no"})
    assert (missing.status_code, missing.json["code"]) == (404, "object-not-found")


def test_rel_S16_provenance_leaves_out_what_the_caller_may_not_read(api: Api) -> None:
    rights = [allow("fs:ReadCommit", f"{FS}/{name}") for name in ("words", "totals")]
    bob = api.user("bob", *rights, allow("fs:ReadObject", f"{FS}/words/object/*"))
    found = trace(bob, "totals")
    assert names(found) == ["words", "totals"]
    assert [edge["input"] for edge in found["edges"]] == ["counts"]
    assert "books" not in found["svg"] + found["dot"]
    (step,) = trace(bob, "words", path="a")["files"]
    assert step["sources"] == []
    asked = {"path": "total"}
    assert bob.get("/repositories/totals/refs/main/provenance", params=asked).status_code == 403
    assert bob.get("/repositories/books/refs/main/provenance").status_code == 403


def test_pach_S7_a_commit_tells_all_that_made_it_and_what_is_stored(api: Api) -> None:
    path = "/repositories/totals/commits/main"
    found = api.get(path).json
    assert [one["repository_id"] for one in found["provenance"]] == ["books", "words"]
    assert [one["repository_id"] for one in found["direct_provenance"]] == ["words"]
    inspected = api.get("/repositories/totals/pfs/inspect-commit", params={"commit": "main"}).json
    assert inspected["provenance"] == found["provenance"]
    assert inspected["direct_provenance"] == found["direct_provenance"]
    (listed, *_) = api.get("/repositories/totals/refs/main/commits").json["results"]
    assert (listed["id"], "provenance" in listed) == (found["id"], False)
    rights = [allow("fs:ReadCommit", f"{FS}/{name}") for name in ("books", "totals")]
    bob = api.user("bob", *rights)
    assert [one["repository_id"] for one in bob.get(path).json["provenance"]] == ["books"]
    assert bob.get(path).json["direct_provenance"] == []
