# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from lochan.errors import InvalidInput, JobFailed, Unavailable
from lochan.pipelines.attempts.checks import (
    CheckResult,
    CheckTask,
    OutputTree,
    require_passed,
    run_checks,
)
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.model.records import JobState
from lochan.pipelines.model.spec import Check
from lochan.pipelines.model.work import Code
from support.attempts import code_folder
from support.pipeline_world import MAIN, THUMBS, PipelineWorld, namespace_of, thumbs

CHECKS = """
def whole(out):
    print("there are", len(out))
    assert sorted(out.paths) == ["a", "b/c"]
    assert [file.path for file in out.under("b/")] == ["b/c"]
    assert (out.read_bytes("a"), out.read_text("b/c")) == (b"ONE", "TWO")
    assert "a" in out and "x" not in out
    with out.open("a", "r") as file:
        assert file.read() == "ONE"

def small(out):
    print("looking")
    for file in out:
        if file.size > 2:
            raise ValueError(f"{file.path} is large")

def no(out):
    return False

def missing(out):
    out.read_bytes("x")
"""


@pytest.fixture(scope="module")
def world() -> PipelineWorld:
    world = PipelineWorld.open()
    world.put({"a": "ONE", "b/c": "TWO"}, to=THUMBS)
    return world


def task(world: PipelineWorld, code: Code, *checks: Check) -> CheckTask:
    return CheckTask(
        job="job1",
        pipeline="thumbs",
        code=code,
        checks=checks,
        output_namespace=namespace_of(THUMBS),
        tree=world.head(THUMBS).meta_range_id,
    )


def run(world: PipelineWorld, folder: Path, *checks: Check) -> tuple[CheckResult, ...]:
    given = task(world, code_folder(folder, CHECKS, "gates.py"), *checks)
    return run_checks(given, world.world, world.lake.storage)


def test_a_function_sees_the_files_of_the_tree(world: PipelineWorld, tmp_path: Path) -> None:
    found = run(world, tmp_path, Check(function="gates:whole", name="all there"))

    assert found == (CheckResult(name="all there", passed=True),)
    require_passed(found)


def test_all_checks_run_and_each_says_why_it_failed(world: PipelineWorld, tmp_path: Path) -> None:
    names = ("small", "no", "whole", "missing")
    found = run(world, tmp_path, *(Check(function=f"gates:{name}") for name in names))

    assert [one.passed for one in found] == [False, False, True, False]
    assert found[0].reason == "ValueError: a is large; it said: looking"
    assert found[1].reason == "it gave False"
    assert found[3].reason == "the output has no file 'x'"
    with pytest.raises(JobFailed, match=r"gates:small failed: .* gates:no failed") as caught:
        require_passed(found)
    assert caught.value.code == "check-failed"
    assert caught.value.facts["checks"] == ["gates:small", "gates:no", "gates:missing"]


def test_a_query_is_run_by_who_can(world: PipelineWorld) -> None:
    given = task(world, Code(), Check(sql="select 1"), Check(sql="select 2"))

    found = run_checks(
        given, world.world, world.lake.storage, lambda _, check: check.sql.endswith("2")
    )
    engine = InProcess(world.world, world.lake.storage)

    assert [one.passed for one in found] == [False, True]
    assert found[0].reason == "'select 1' did not give true"
    with pytest.raises(InvalidInput, match="this engine runs none"):
        engine.check(given)


def test_rel_H9_a_store_that_does_not_answer_is_no_check_that_failed(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def away(*_: object) -> bytes:
        raise Unavailable("the store is away")

    monkeypatch.setattr(OutputTree, "read_bytes", away)

    with pytest.raises(Unavailable):
        run(world, tmp_path, Check(function="gates:missing"))


def test_an_output_that_fails_its_check_is_never_seen(tmp_path: Path) -> None:
    world = PipelineWorld.open()
    checks = (Check(function="steps:make", name="gate"),)  # a function that takes something else
    world.create(thumbs(checks=checks))
    before = world.head()

    job = world.run({"a": "one"})

    assert job.state is JobState.FAILURE
    assert "check gate failed" in job.reason
    assert world.head(THUMBS, MAIN) == before
