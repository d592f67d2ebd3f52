# SPDX-License-Identifier: Apache-2.0
"""Jobs over REST: how far they are, what became of their datums, what these printed; their end."""

from typing import Any

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_pipelines import STEPS, TOTAL, WORDS, drive, make_pipelines, run, said

WORDS_ARN = "arn:lakefs:pipelines:::pipeline/words"


@pytest.fixture
def api(api: Api) -> Api:
    make_pipelines(api, WORDS, TOTAL)
    return api


def first_job(api: Api, **told: object) -> dict[str, Any]:
    found: dict[str, Any] = run(api, "words", **told)["jobs"][0]
    return found


def test_jobs_are_listed_newest_first_by_pages(api: Api) -> None:
    made = [first_job(api)["id"] for _ in range(3)]
    seen, after = [], ""
    while True:
        params = {"amount": 2, "after": after}
        page = api.get("/pipelines/words/jobs", params=params).json
        seen += [one["id"] for one in page["results"]]
        after = page["pagination"]["next_offset"]
        if not after:
            break
    assert seen == made[::-1]
    wrong = api.get("/pipelines/words/jobs", params={"after": "0" * 32})
    assert (wrong.status_code, wrong.json["code"]) == (404, "job-not-found")


def test_a_job_says_what_it_read_and_made(api: Api) -> None:
    job = first_job(api)
    assert job == api.get(f"/jobs/{job['id']}").json
    assert (job["state"], job["counts"]["processed"], job["epoch"]) == ("success", 2, 1)
    head = api.get("/repositories/books/branches/main").json["commit_id"]
    assert [(pin["input"], pin["commit"]) for pin in job["inputs"]] == [("text", head)]
    published = api.get(f"/repositories/words/commits/{job['commit']}").json
    assert published["metadata"]["lochan.job"] == job["id"]
    assert api.get(f"/jobs/{'0' * 32}").json["code"] == "job-not-found"
    assert api.get(f"/job-sets/{'0' * 32}").json["code"] == "job-set-not-found"


def test_datums_are_listed_by_pages_with_what_they_read_and_wrote(api: Api) -> None:
    job, rows, after = first_job(api), [], ""
    while True:
        asked = {"amount": 1, "after": after}
        page = api.get(f"/jobs/{job['id']}/datums", params=asked).json
        rows += page["results"]
        after = page["pagination"]["next_offset"]
        if not after:
            break
    found = sorted((row["inputs"][0]["path"], row["outputs"], row["state"]) for row in rows)
    assert found == [("a", ["a"], "processed"), ("b", ["b"], "processed")]
    wrong = api.get(f"/jobs/{job['id']}/datums", params={"after": "odd"})
    assert (wrong.status_code, wrong.json["code"]) == (400, "invalid-after")


def test_logs_are_told_of_all_datums_or_of_one(api: Api) -> None:
    job = first_job(api)
    lines = api.get(f"/jobs/{job['id']}/logs").json["results"]
    printed = [line for line in lines if line["stream"] == "stdout"]
    assert sorted(line["text"].rstrip() for line in printed) == ["counting a", "counting b"]
    one = printed[0]["datum"]
    some = api.get(f"/jobs/{job['id']}/logs", params={"datum": one[:8]}).json["results"]
    assert {line["datum"] for line in some} == {one}


def test_a_job_that_failed_says_why_and_publishes_nothing(api: Api) -> None:
    broken = said(WORDS, STEPS.replace(b"len(", b"len(1, "))
    assert api.put("/pipelines/words", json=broken).status_code == 200
    words, total = run(api, "words")["jobs"]
    assert (words["state"], words["commit"], total["state"]) == ("failure", "", "unrunnable")
    assert "TypeError" in words["reason"]
    assert api.get(f"/jobs/{words['id']}/datums").json["results"] == []
    end = api.get(f"/jobs/{words['id']}/events").json["results"][-1]
    assert end["eventType"] == "FAIL"
    assert "TypeError" in end["run"]["facets"]["errorMessage"]["message"]


def test_a_stopped_job_ends_without_a_commit(api: Api) -> None:
    asked = api.post("/pipelines/words/runs").json["jobs"]
    assert [job["state"] for job in asked] == ["created", "created"]
    assert [api.post(f"/jobs/{job['id']}/stop").status_code for job in asked] == [202, 202]
    drive(api.services.lake)
    ended = [api.get(f"/jobs/{job['id']}").json for job in asked]
    assert [(job["state"], job["commit"]) for job in ended] == [("killed", ""), ("killed", "")]


def test_a_job_is_told_as_events_of_openlineage(api: Api) -> None:
    job = first_job(api)
    start, end = api.get(f"/jobs/{job['id']}/events").json["results"]
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert end["run"]["runId"].replace("-", "") == job["id"]
    assert [one["name"] for one in end["inputs"]] == ["books/main"]
    assert end["outputs"][0]["facets"]["version"]["datasetVersion"] == job["commit"]


def test_rel_S16_jobs_of_pipelines_that_may_not_be_read_are_not_shown(api: Api) -> None:
    done = run(api, "words")
    words, total = done["jobs"]
    bob = api.user("bob", Statement("allow", ("pipelines:ReadJob",), WORDS_ARN))
    nobody = api.user("eve")
    for path in ("", "/datums", "/logs", "/events"):
        assert bob.get(f"/jobs/{words['id']}{path}").status_code == 200
        assert bob.get(f"/jobs/{total['id']}{path}").status_code == 403
        assert nobody.get(f"/jobs/{words['id']}{path}").status_code == 403
    assert bob.get("/pipelines/total/jobs").status_code == 403
    assert bob.post(f"/jobs/{words['id']}/stop").status_code == 403
    seen = bob.get(f"/job-sets/{done['id']}").json["jobs"]
    assert [job["pipeline"] for job in seen] == ["words"]
    assert nobody.get(f"/job-sets/{done['id']}").status_code == 403


def test_rel_S16_showing_a_shard_takes_the_right_to_make_a_branch(api: Api) -> None:
    path = f"/jobs/{first_job(api)['id']}/shards/0"
    may_read = Statement("allow", ("pipelines:ReadJob",), WORDS_ARN)
    branches = "arn:lakefs:fs:::repository/words/branch/job-*"
    may_show = Statement("allow", ("fs:CreateBranch",), branches)
    assert api.user("bob", may_read).post(path).status_code == 403
    assert api.user("eve", may_show).post(path).status_code == 403
    shown = api.user("ada", may_read, may_show).post(path)
    assert (shown.status_code, shown.json["datums"]) == (201, 2)


def test_rel_S16_who_runs_a_pipeline_sees_its_job_and_no_other(api: Api) -> None:
    bob = api.user("bob", Statement("allow", ("pipelines:RunPipeline",), WORDS_ARN))
    asked = bob.post("/pipelines/words/runs").json
    assert [job["pipeline"] for job in asked["jobs"]] == ["words"]
