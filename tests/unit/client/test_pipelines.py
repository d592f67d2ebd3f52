# SPDX-License-Identifier: Apache-2.0
"""Pipelines, jobs and provenance as Python objects, over both ways."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from lochan.client import Lake
from lochan.errors import AlreadyExists, Conflict, InvalidInput, JobFailed, NotFound
from lochan.operations.lake import Lake as InsideLake
from support.web_pipelines import STEPS, drive

_numbers = count(1)


class Piped:
    """Two pipelines over an input of their own, said by a file."""

    def __init__(self, lake: Lake, folder: Path) -> None:
        number = next(_numbers)
        self.lake, self.file = lake, folder / "pipeline.yaml"
        self.books, self.words, self.total = (
            f"{name}-{number}" for name in ("books", "words", "total")
        )
        (folder / "steps.py").write_bytes(STEPS)
        self.file.write_text(
            f"pipeline: {self.words}\n"
            f"input: {{repo: {{name: text, repo: {self.books}, glob: '/*'}}}}\n"
            f"transform: {{files: 'steps:count'}}\noutput: {self.words}\n---\n"
            f"pipeline: {self.total}\n"
            f"input: {{repo: {{name: counts, repo: {self.words}, glob: /}}}}\n"
            f"transform: {{files: 'steps:total'}}\noutput: {self.total}\n"
        )
        self.put(a="one two", b="three")

    def put(self, **books: str) -> None:
        branch = self.lake.repository(self.books).create(exist_ok=True).branch("main")
        for name, text in books.items():
            branch.upload(name, text)
        branch.commit("books")


@pytest.fixture
def piped(lake: Lake, tmp_path: Path) -> Piped:
    return Piped(lake, tmp_path)


@pytest.fixture
def here(open_way: Callable[[str], Lake], tmp_path: Path) -> Piped:
    """The same on a lake of this process, whose jobs tests drive."""
    return Piped(open_way("embedded"), tmp_path)


def driven(piped: Piped) -> None:
    assert isinstance(piped.lake.inside, InsideLake)
    drive(piped.lake.inside)


def test_a_file_makes_its_pipelines_and_is_updated_to(piped: Piped) -> None:
    pipelines = piped.lake.pipelines
    made = pipelines.create(piped.file)
    assert [one.pipeline for one in made] == [piped.words, piped.total]
    assert list(made[0].hashed) == ["steps.py"]
    assert [one.version for one in pipelines.update(piped.file)] == [one.version for one in made]
    with pytest.raises(AlreadyExists):
        pipelines.create(piped.file)
    assert {piped.words, piped.total} <= {one.pipeline for one in pipelines.list()}
    assert pipelines.pause(piped.words).state == "paused"
    assert pipelines.resume(piped.words).state == "active"
    writes = [node.writes for node in pipelines.graph().nodes]
    assert writes.index(f"{piped.words}@main") < writes.index(f"{piped.total}@main")
    pipelines.delete(piped.total)
    with pytest.raises(NotFound):
        pipelines.get(piped.total)


def test_an_update_may_make_what_is_missing(piped: Piped) -> None:
    with pytest.raises(NotFound):
        piped.lake.pipelines.update(piped.file)
    made = piped.lake.pipelines.update(piped.file, create=True)
    assert [one.pipeline for one in made] == [piped.words, piped.total]


def test_a_check_makes_nothing_and_names_lines(piped: Piped) -> None:
    text = piped.file.read_text().partition("---")[0]
    piped.file.write_text(text)
    (found,) = piped.lake.pipelines.check(piped.file)
    assert (found.datums, found.first[0]) == (2, ["text:a"])
    with pytest.raises(NotFound):
        piped.lake.pipelines.get(piped.words)
    piped.file.write_text(text.replace("glob", "glbo"))
    with pytest.raises(InvalidInput, match=r"pipeline\.yaml:2:.*did you mean 'glob'"):
        piped.lake.pipelines.check(piped.file)


def test_what_a_server_finds_wrong_is_told_by_the_lines_of_the_file(piped: Piped) -> None:
    piped.file.write_text(piped.file.read_text().replace("steps:total", "steps:missing"))
    with pytest.raises(InvalidInput, match="missing"):
        piped.lake.pipelines.create(piped.file)


def test_decorated_functions_are_pipelines(piped: Piped, tmp_path: Path) -> None:
    file = tmp_path / "said.py"
    file.write_text(
        "from lochan.pipelines import Files, Out, pipeline\n"
        f"@pipeline(output='{piped.words}', name='{piped.words}')\n"
        f"def count(text: Files('{piped.books}', '/*'), out: Out):\n"
        "    out.write(text.path, text.read_text().upper())\n"
    )
    (made,) = piped.lake.pipelines.create(file)
    assert made.spec["transform"]["function"] == "said:count"
    assert list(made.hashed) == ["said.py"]


def test_a_run_is_waited_for_and_its_jobs_looked_at(here: Piped) -> None:
    pipelines = here.lake.pipelines
    pipelines.create(here.file)
    run = pipelines.run(here.words, key="first")
    assert not run.is_over
    with pytest.raises(Conflict, match="not over"):
        run.wait(timeout_s=0)
    driven(here)
    words, total = run.wait()
    assert (words.counts.processed, total.state) == (2, "success")
    assert [job.id for job in pipelines.jobs.of(here.words)] == [words.id]
    assert len(list(pipelines.jobs.datums(words.id))) == 2
    texts = {line.text.rstrip() for line in pipelines.jobs.logs(words.id)}
    assert {"counting a", "counting b"} <= texts
    assert [one["eventType"] for one in pipelines.jobs.events(words.id)] == ["START", "COMPLETE"]
    assert pipelines.jobs.run(words.job_set).id == run.id
    assert here.words in run._repr_html_()


def test_a_run_that_fails_says_which_job(here: Piped) -> None:
    (here.file.parent / "steps.py").write_bytes(STEPS.replace(b"len(", b"len(1, "))
    here.lake.pipelines.create(here.file)
    run = here.lake.pipelines.run(here.words)
    driven(here)
    with pytest.raises(JobFailed, match=f"{here.words} ended as failure: .*TypeError") as told:
        run.wait()
    assert told.value.facts["job"] == run.jobs[0].id


def test_a_stopped_job_is_killed(here: Piped) -> None:
    here.lake.pipelines.create(here.file)
    run = here.lake.pipelines.run(here.words)
    here.lake.pipelines.jobs.stop(run.jobs[0].id)
    driven(here)
    assert [job.state for job in run.look().jobs] == ["killed", "unrunnable"]


def test_a_file_knows_what_made_it(here: Piped) -> None:
    here.lake.pipelines.create(here.file)
    here.lake.pipelines.run(here.words)
    driven(here)
    ref = here.lake.repository(here.total).ref("main")
    found = ref.provenance("up", "total")
    assert [one.repository for one in found.commits] == [here.books, here.words, here.total]
    (step,) = found.files
    assert [place.path for place in step.sources] == ["/"]
    down = here.lake.repository(here.books).ref("main").provenance("down", "a")
    assert [place.path for step in down.files for place in step.results] == ["a"]


def test_pach_S7_a_commit_knows_all_that_made_it_wherever_it_came_from(here: Piped) -> None:
    here.lake.pipelines.create(here.file)
    here.lake.pipelines.run(here.words).wait()
    main = here.lake.repository(here.total).branch("main")
    for commit in (main.head, next(main.log())):
        assert [one.repository_id for one in commit.provenance] == [here.books, here.words]
        assert [one.repository_id for one in commit.direct_provenance] == [here.words]
    assert main.head == next(main.log())
    assert list(here.lake.repository(here.books).branch("main").head.provenance) == []
