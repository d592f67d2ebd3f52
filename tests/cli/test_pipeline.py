# SPDX-License-Identifier: Apache-2.0
"""Pipelines, jobs and provenance by commands, on a lake in a folder."""

import json
from pathlib import Path

import pytest

from lochan.cli.app import run
from support.lake_commands import LakeCommands
from support.web_pipelines import STEPS, TOTAL, WORDS


@pytest.fixture
def file(lochan: LakeCommands) -> Path:
    """Two pipelines in a folder of their own, and two books for them."""
    folder = lochan.folder / "counting"
    folder.mkdir()
    (folder / "steps.py").write_bytes(STEPS)
    made = folder / "pipeline.yaml"
    made.write_text(f"{WORDS}---\n{TOTAL}")
    lochan("repo", "create", "books")
    for name, text in (("a", "one two"), ("b", "three")):
        lochan.put(f"books/main/{name}", text)
    lochan("commit", "books/main", "-m", "two books")
    return made


def test_pipelines_are_checked_tried_made_and_run(lochan: LakeCommands, file: Path) -> None:
    said = file.read_text()
    file.write_text(WORDS)  # the second reads what the first has not made yet
    assert lochan("pipeline", "check", file).lines == ["words: 2 datums", "   text:a", "   text:b"]
    tried = lochan("pipeline", "test", file, "--path", "b", "--into", lochan.folder / "kept")
    assert tried.lines[1].split() == ["1", "text:b", "b", "(1)", tried.lines[1].split()[4], "ok"]
    assert tried.err == "1 stdout: counting b\n"
    assert (lochan.folder / "kept" / "1" / "b").read_text() == "1"
    file.write_text(said)
    assert [line.split()[0] for line in lochan("pipeline", "create", file).lines] == [
        "PIPELINE",
        "words",
        "total",
    ]
    ran = lochan("pipeline", "run", "words").lines
    assert [line.split()[2:5] for line in ran[1:]] == [
        ["success", "2", "run"],
        ["success", "1", "run"],
    ]
    assert lochan("fs", "cat", "totals/main/total").out == "3"


def test_the_next_run_says_what_it_left_out(lochan: LakeCommands, file: Path) -> None:
    lochan("pipeline", "create", file)
    lochan("pipeline", "run", "words")
    lochan.put("books/main/a", "one two three")
    lochan("commit", "books/main", "-m", "longer")
    words, total = lochan.json("pipeline", "run", "words")
    assert (words["counts"]["processed"], words["counts"]["skipped"]) == (1, 1)
    assert total["state"] == "success"
    again = lochan("pipeline", "run", "words").lines
    assert "2 unchanged" in again[1]
    earlier = lochan("pipeline", "run", "words", "--commit", "text=main~1", "--key", "k")
    assert "1 remembered, 1 unchanged" in earlier.out
    assert lochan("fs", "cat", "totals/main/total").out == "3"
    lochan("pipeline", "run", "words", "--commit", "main~1", code=2)


def test_a_run_on_a_branch_leaves_main_alone(lochan: LakeCommands, file: Path) -> None:
    lochan("pipeline", "create", file)
    lochan("pipeline", "run", "words")
    lochan("branch", "create", "books/try")
    lochan.put("books/try/c", "four five")
    lochan("commit", "books/try", "-m", "more")
    lochan("pipeline", "run", "words", "--branch", "try")
    assert lochan("fs", "cat", "totals/try/total").out == "5"
    assert lochan("fs", "cat", "totals/main/total").out == "3"


def test_a_run_that_fails_shows_its_jobs_and_ends_with_one(
    lochan: LakeCommands, file: Path
) -> None:
    lochan("pipeline", "create", file)
    (file.parent / "steps.py").write_bytes(STEPS.replace(b"len(", b"len(1, "))
    lochan("pipeline", "update", file)
    ran = lochan("pipeline", "run", "words", code=1)
    assert "TypeError" in ran.err
    assert "Traceback" not in ran.out + ran.err
    job = ran.lines[1].split()[1]
    assert f"`lochan job logs {job}" in ran.err
    assert "line 3, in count" in lochan("job", "logs", job).out
    assert "published nothing" in lochan("job", "datums", job).err
    assert [line.split()[2] for line in ran.lines[1:3]] == ["failure", "unrunnable"]
    lochan.capture.readouterr()
    assert run(["pipeline", "test", str(file), "-p", "words", *lochan.options]) == 1
    assert "line 3, in count" in lochan.capture.readouterr().err


def test_pipelines_are_listed_shown_paused_and_taken_away(lochan: LakeCommands, file: Path) -> None:
    lochan("pipeline", "update", file, "--create")
    assert [one["pipeline"] for one in lochan.json("pipeline", "list")] == ["total", "words"]
    shown = lochan("pipeline", "show", "words").out
    assert "books@main:/*" in shown
    assert "of steps.py" in shown
    assert lochan.json("pipeline", "pause", "words")["state"] == "paused"
    dag = lochan("pipeline", "dag").lines
    assert [line.split()[0] for line in dag[1:]] == ["books@main", "words@main"]
    assert "words (paused)" in dag[1]
    assert lochan("pipeline", "dag", "--dot").out.startswith("digraph")
    assert lochan.json("pipeline", "resume", "words")["state"] == "active"
    lochan("pipeline", "delete", "total")
    lochan("pipeline", "show", "total", code=3)


def test_mistakes_are_told_by_their_line(lochan: LakeCommands, file: Path) -> None:
    file.write_text(file.read_text().replace("transform", "transfrom"))
    told = lochan("pipeline", "create", file, code=2).err
    assert "pipeline.yaml:3:1" in told
    assert "did you mean 'transform'" in told
    file.write_text(WORDS.replace('"/*"', '"/*/*"'))
    assert "matched 0 of 2" in lochan("pipeline", "check", file).err


def test_jobs_are_listed_shown_and_their_datums_and_lines(lochan: LakeCommands, file: Path) -> None:
    lochan("pipeline", "create", file)
    words, _ = lochan.json("pipeline", "run", "words")
    assert words["id"][:12] in lochan("job", "list", "words").lines[1]
    short = ("--pipeline", "words")
    shown = lochan("job", "show", words["id"][:8], *short).out
    assert words["commit"] in shown
    assert f"books@{words['inputs'][0]['commit'][:12]}/*" in shown
    datums = lochan("job", "datums", words["id"]).out
    assert "text:a" in datums
    logs = lochan("job", "logs", words["id"]).out
    assert "counting a" in logs
    assert [one["eventType"] for one in json.loads(lochan("job", "events", words["id"]).out)] == [
        "START",
        "COMPLETE",
    ]
    assert lochan("job", "wait", words["id"]).lines[1].split()[2] == "success"
    lochan("job", "show", "nothing", *short, code=3)
    lochan("job", "show", "nothing", code=3)


def test_a_job_that_waits_is_stopped(lochan: LakeCommands, file: Path) -> None:
    lochan("pipeline", "create", file)
    lake = lochan.opened()
    waiting = lake.pipelines.run("words").jobs
    assert len(lochan.json("pipeline", "stop", "words")) == 1
    assert lochan.json("job", "stop", waiting[1].id)["job"] == waiting[1].id


def test_a_file_is_traced_up_and_down(lochan: LakeCommands, file: Path) -> None:
    lochan("pipeline", "create", file)
    lochan("pipeline", "run", "words")
    up = lochan("provenance", "totals@main:total").lines
    assert [line.strip().split("@")[0] for line in up[:3]] == ["totals", "└─ words", "└─ books"]
    assert up[2].endswith("as text /*")
    assert "of total, job" in up[4]
    down = lochan("provenance", "books@main:b", "--down").lines
    assert down[-1].strip().startswith("words@")
    assert down[-1].endswith(":b")
    assert lochan("provenance", "totals@main", "--as", "dot").out.startswith("digraph")
    assert lochan("provenance", "totals@main", "--as", "svg").out.startswith("<svg")
    assert len(lochan.json("provenance", "totals@main")["commits"]) == 3
    assert lochan("provenance", "books@main:b").lines[-1] == "b: no job wrote it"
    lochan("provenance", "totals", code=2)
