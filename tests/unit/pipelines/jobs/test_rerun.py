# SPDX-License-Identifier: Apache-2.0
"""Which datums run again after an update: what counts as other code, seen from a whole job."""

from collections.abc import Mapping

import msgspec
import pytest

from lochan.pipelines.model.spec import FilesTransform, Spec
from lochan.pipelines.specs.registry import update_pipeline
from support.pipeline_world import CODE, SPEC, PipelineWorld, make, namespace_of, ran

THREE = {"a": "x", "b": "y", "c": "z"}
OTHER = {"steps.py": CODE["steps.py"] + b"\nTIMES = 2\n"}
SIZED = FilesTransform(function="steps:make", params={"size": 2})


def make_sized(img: object, out: object, size: int = 1) -> None:
    make(img, out)  # type: ignore[arg-type] # what attempts hand in


@pytest.fixture
def world() -> PipelineWorld:
    """Give a world in which three files were computed."""
    found = PipelineWorld.open(function=make_sized)
    found.create()
    found.run(THREE)
    assert ran == dict.fromkeys(THREE, 1)
    return found


def run_after_update(
    world: PipelineWorld,
    spec: Spec = SPEC,
    code: Mapping[str, bytes] = CODE,
    *,
    reprocess: bool = False,
) -> set[str]:
    """Update, put one file more, and say on which files the code was run."""
    update_pipeline(world.lake, spec, code, reprocess=reprocess, namespaces=namespace_of)
    ran.clear()
    job = world.run({"d": f"new {world.world.time_s}"})
    assert job.counts.processed == len(ran)
    return set(ran)


def said(**fields: object) -> Spec:
    return msgspec.structs.replace(SPEC, **fields)


def test_an_update_to_the_same_runs_nothing_again(world: PipelineWorld) -> None:
    assert run_after_update(world) == {"d"}


def test_a_change_of_comments_alone_runs_nothing_again(world: PipelineWorld) -> None:
    commented = {"steps.py": b"# Why it is so.\n\n" + CODE["steps.py"] + b"# The end.\n"}
    assert run_after_update(world, code=commented) == {"d"}


def test_files_that_the_function_does_not_import_run_nothing_again(world: PipelineWorld) -> None:
    more = CODE | {"other.py": b"x = 1", "README.md": b"more"}
    assert run_after_update(world, code=more) == {"d"}


def test_other_code_runs_everything_again_and_the_code_of_before_nothing(
    world: PipelineWorld,
) -> None:
    assert run_after_update(world, code=OTHER) == {*THREE, "d"}
    assert run_after_update(world) == {"d"}


def test_other_parameters_run_everything_again(world: PipelineWorld) -> None:
    assert run_after_update(world, said(transform=SIZED)) == {*THREE, "d"}


def test_rerun_never_keeps_what_was_computed_by_other_code(world: PipelineWorld) -> None:
    assert run_after_update(world, said(rerun="never"), OTHER) == {"d"}


def test_reprocess_and_every_job_run_everything_again(world: PipelineWorld) -> None:
    assert run_after_update(world, reprocess=True) == {*THREE, "d"}
    assert run_after_update(world) == {"d"}
    assert run_after_update(world, said(rerun="every_job")) == {*THREE, "d"}
    assert run_after_update(world, said(rerun="every_job")) == {*THREE, "d"}
