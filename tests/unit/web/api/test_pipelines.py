# SPDX-License-Identifier: Apache-2.0
"""Pipelines over REST: made, changed, paused, looked at, run and taken away; and who may."""

import pytest

from lochan.model.access import Statement
from support.web import Api
from support.web_pipelines import STEPS, TOTAL, WORDS, drive, make_pipelines, put_books, run, said
from support.web_tasks import make_repository, put, read

FS = "arn:lakefs:fs:::repository"
ANY_PIPELINE = "arn:lakefs:pipelines:::pipeline/*"


@pytest.fixture
def api(api: Api) -> Api:
    make_pipelines(api, WORDS, TOTAL)
    return api


def allow(action: str, resource: str) -> Statement:
    return Statement(effect="allow", action=(action,), resource=resource)


def test_a_pipeline_is_shown_as_it_was_made(api: Api) -> None:
    found = api.get("/pipelines/words").json
    assert (found["pipeline"], found["state"], found["principal"]) == ("words", "active", "admin")
    assert found["spec"]["input"]["repo"] == "books"
    assert found["hashed"] == ["steps.py"]
    again = api.post("/pipelines", json=said(WORDS))
    assert (again.status_code, again.json["code"]) == (409, "pipeline-exists")
    missing = api.get("/pipelines/nothing")
    assert (missing.status_code, missing.json["code"]) == (404, "pipeline-not-found")


def test_pipelines_are_listed_by_pages_and_by_prefix(api: Api) -> None:
    seen, after = [], ""
    while True:
        page = api.get("/pipelines", params={"amount": 1, "after": after}).json
        seen += [one["pipeline"] for one in page["results"]]
        after = page["pagination"]["next_offset"]
        if not after:
            break
    assert seen == ["total", "words"]
    found = api.get("/pipelines", params={"prefix": "wo"}).json["results"]
    assert [one["pipeline"] for one in found] == ["words"]


def test_an_update_to_the_same_changes_nothing(api: Api) -> None:
    before = api.get("/pipelines/words").json
    assert api.put("/pipelines/words", json=said(WORDS)).json == before
    commented = api.put("/pipelines/words", json=said(WORDS, STEPS + b"# said\n")).json
    assert commented["version"] != before["version"]
    assert commented["digest"] == before["digest"]
    other = api.put("/pipelines/words", json=said(WORDS, STEPS.replace(b"len", b"2 * len"))).json
    assert other["digest"] != before["digest"]
    wrong = api.put("/pipelines/total", json=said(WORDS))
    assert (wrong.status_code, wrong.json["code"]) == (400, "another-pipeline")


def test_a_run_makes_outputs_and_the_next_one_only_what_changed(api: Api) -> None:
    done = run(api, "words")
    states = [(job["pipeline"], job["state"], job["counts"]["processed"]) for job in done["jobs"]]
    assert states == [("words", "success", 2), ("total", "success", 1)]
    assert read(api, "/repositories/totals", "total") == b"3"
    put_books(api, a="one two three")
    first, second = run(api, "words")["jobs"]
    assert (first["counts"]["processed"], first["counts"]["skipped"]) == (1, 1)
    assert (second["output"], second["inputs"][0]["commit"]) == ("totals@main", first["commit"])
    assert read(api, "/repositories/totals", "total") == b"4"


def test_runs_with_one_key_are_one_run(api: Api) -> None:
    asked = [api.post("/pipelines/words/runs", json={"key": "k"}).json["id"] for _ in range(2)]
    assert asked[0] == asked[1]
    other = api.post("/pipelines/words/runs")
    assert (other.status_code, other.json["id"] != asked[0]) == (202, True)
    assert len(list(drive(api.services.lake))) == 4


def test_inputs_are_fixed_to_refs_by_their_names(api: Api) -> None:
    put_books(api, a="1 2 3 4")
    run(api, "words", commits={"text": "main~1"})
    assert read(api, "/repositories/totals", "total") == b"3"
    wrong = api.post("/pipelines/words/runs", json={"commits": {"texts": "main"}})
    assert (wrong.status_code, wrong.json["code"]) == (400, "no-such-input")
    missing = api.post("/pipelines/words/runs", json={"commits": {"text": "gone"}})
    assert missing.status_code == 404


def test_a_run_on_a_branch_leaves_main_as_it_is(api: Api) -> None:
    run(api, "words")
    api.post("/repositories/books/branches", json={"name": "try", "source": "main"})
    put(api, "/repositories/books", "c", b"six seven", branch="try")
    api.post("/repositories/books/branches/try/commits", json={"message": "m"})
    first, _ = run(api, "words", branch="try")["jobs"]
    assert (first["output"], first["counts"]["processed"]) == ("words@try", 1)
    assert read(api, "/repositories/totals", "total", "try") == b"5"
    assert read(api, "/repositories/totals", "total") == b"3"


def test_a_paused_pipeline_is_said_to_rest(api: Api) -> None:
    assert api.put("/pipelines/words/state", json={"state": "paused"}).json["state"] == "paused"
    nodes = {node["pipeline"]: node for node in api.get("/pipeline-graph").json["nodes"]}
    assert (nodes["words"]["paused"], nodes["total"]["paused"]) == (True, False)
    assert api.put("/pipelines/words/state", json={"state": "active"}).json["state"] == "active"
    assert api.put("/pipelines/words/state", json={"state": "odd"}).status_code == 400


def test_the_graph_has_those_that_write_before_those_that_read(api: Api) -> None:
    graph = api.get("/pipeline-graph").json
    assert [node["pipeline"] for node in graph["nodes"]] == ["words", "total"]
    assert graph["nodes"][1]["reads"] == ["words@main"]
    assert graph["nodes"][1]["writes"] == "totals@main"
    assert '"words"' in graph["dot"]


def test_a_deleted_pipeline_leaves_its_output_and_lets_its_branch_go(api: Api) -> None:
    run(api, "words")
    refused = api.post("/repositories/words/branches/main/objects", params={"path": "x"}, body=b"1")
    assert refused.status_code == 403
    assert api.delete("/pipelines/words").status_code == 204
    assert api.get("/pipelines/words").status_code == 404
    assert read(api, "/repositories/words", "a") == b"2"
    put(api, "/repositories/words", "x", b"1")


def test_a_check_says_what_would_be_read_and_makes_nothing(api: Api) -> None:
    spec = WORDS.replace("pipeline: words", "pipeline: new").replace("{repo: words}", "{repo: new}")
    found = api.post("/pipeline-checks", json=said(spec)).json
    assert (found["datums"], found["first"]) == (2, [["text:a"], ["text:b"]])
    deeper = api.post("/pipeline-checks", json=said(spec.replace('"/*"', '"/*/*"'))).json
    assert deeper["datums"] == 0
    assert "matched 0 of 2" in " ".join(deeper["notes"])
    assert api.get("/pipelines/new").status_code == 404
    assert api.get("/repositories/new").status_code == 404


@pytest.mark.parametrize(
    ("spec", "files", "code"),
    [
        ("pipeline: x\nimput: 1\n", {}, "invalid-pipeline"),
        (f"{WORDS}---\n{TOTAL}", {}, "one-pipeline"),
        (WORDS, {"steps.py": "no base64!"}, "not-base64"),
    ],
)
def test_what_is_wrong_with_a_spec_is_told(
    api: Api, spec: str, files: dict[str, str], code: str
) -> None:
    answer = api.post("/pipelines", json={"spec": spec, "files": files})
    assert (answer.status_code, answer.json["code"]) == (400, code), answer.text


def test_rel_S16_who_may_not_read_an_input_cannot_make_a_pipeline_that_reads_it(api: Api) -> None:
    make_repository(api, "mine")
    writes = (allow("fs:*", f"{FS}/mine"), allow("fs:*", f"{FS}/mine/*"))
    bob = api.user("bob", allow("pipelines:*", ANY_PIPELINE), *writes)
    spec = WORDS.replace("pipeline: words", "pipeline: spy").replace(
        "{repo: words}", "{repo: mine}"
    )
    for ask, path in ((bob.post, "/pipelines"), (bob.post, "/pipeline-checks")):
        assert ask(path, json=said(spec)).status_code == 403
    read = allow("fs:ReadObject", f"{FS}/books/object/a")  # a part is not the whole
    ann = api.user("ann", allow("pipelines:*", ANY_PIPELINE), read, *writes)
    assert ann.post("/pipelines", json=said(spec)).status_code == 403
    whole = allow("fs:ReadObject", f"{FS}/books/object/*")
    eve = api.user("eve", allow("pipelines:*", ANY_PIPELINE), whole, *writes)
    assert eve.post("/pipelines", json=said(spec)).status_code == 201


def test_rel_S16_an_update_cannot_read_what_its_author_may_not(api: Api) -> None:
    make_repository(api, "secret")
    rights = (allow("fs:ReadObject", f"{FS}/books/object/*"), allow("fs:*", f"{FS}/words/*"))
    bob = api.user("bob", allow("pipelines:*", ANY_PIPELINE), *rights)
    assert bob.put("/pipelines/words", json=said(WORDS)).status_code == 200
    other = said(WORDS.replace("repo: books", "repo: secret"))
    assert bob.put("/pipelines/words", json=other).status_code == 403


def test_rel_S16_a_pipeline_makes_no_repository_that_its_author_may_not_make(api: Api) -> None:
    rights = (allow("fs:Read*", f"{FS}/*"), allow("fs:CreateCommit", f"{FS}/*"))
    bob = api.user("bob", allow("pipelines:*", ANY_PIPELINE), *rights)
    spec = WORDS.replace("pipeline: words", "pipeline: new").replace("{repo: words}", "{repo: new}")
    assert bob.post("/pipelines", json=said(spec)).status_code == 403
    assert api.get("/repositories/new").status_code == 404


def test_rel_S16_a_run_on_a_branch_needs_rights_on_it_in_every_output(api: Api) -> None:
    rights = [allow("pipelines:Run*", ANY_PIPELINE)]
    bob = api.user("bob", *rights)
    assert bob.post("/pipelines/words/runs").status_code == 202
    assert bob.post("/pipelines/words/runs", json={"branch": "try"}).status_code == 403
    rights.append(allow("fs:CreateCommit", f"{FS}/words/branch/try"))
    ann = api.user("ann", *rights)
    assert ann.post("/pipelines/words/runs", json={"branch": "try"}).status_code == 403
    rights.append(allow("fs:CreateCommit", f"{FS}/totals/branch/*"))
    eve = api.user("eve", *rights)
    assert eve.post("/pipelines/words/runs", json={"branch": "try"}).status_code == 202


def test_rel_S16_pipelines_that_may_not_be_read_are_not_listed(api: Api) -> None:
    bob = api.user("bob", allow("pipelines:Read*", "arn:lakefs:pipelines:::pipeline/total"))
    assert [one["pipeline"] for one in bob.get("/pipelines").json["results"]] == ["total"]
    graph = bob.get("/pipeline-graph").json
    assert [node["pipeline"] for node in graph["nodes"]] == ["total"]
    assert '"words"' not in graph["dot"]
    assert bob.get("/pipelines/words").status_code == 403
    for path in ("/pipelines/total/state", "/pipelines/total"):
        assert bob.put(path, json={"state": "paused"}).status_code in {400, 403}
    assert bob.delete("/pipelines/total").status_code == 403
    assert bob.post("/pipelines/total/runs").status_code == 403
