# SPDX-License-Identifier: Apache-2.0
"""Versions of a pipeline that come back, by their author's will or since an update was refused."""

from collections.abc import Mapping

import msgspec
import pytest

from lochan.errors import InvalidInput
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.pipelines.model.datum import hashed
from lochan.pipelines.model.records import PipelineRecord
from lochan.pipelines.model.spec import Spec
from lochan.pipelines.specs.registry import get_pipeline, load_graph, update_pipeline
from support.pipeline_graph import CODE, OTHER_CODE, jobs_of, made, reads, settled
from support.pipeline_world import PHOTOS, PipelineWorld, namespace_of


@pytest.fixture
def world() -> PipelineWorld:
    return PipelineWorld.open(PHOTOS)


def updated(
    world: PipelineWorld, spec: Spec, code: Mapping[str, bytes], *, reprocess: bool = False
) -> PipelineRecord:
    return update_pipeline(world.lake, spec, code, reprocess=reprocess, namespaces=namespace_of)


def test_a_version_that_comes_back_runs_again_and_computes_nothing(world: PipelineWorld) -> None:
    spec = made(world, "one", reads(PHOTOS))
    world.put({"a": "x"})
    settled(world)
    updated(world, spec, OTHER_CODE)
    settled(world)
    assert world.shown("one-out") == {"a": "other"}
    for _ in range(2):
        updated(world, spec, CODE)
        assert settled(world) == [("one", "success")]
        assert world.shown("one-out") == {"a": "x"}
        assert jobs_of(world, "one")[0].counts.processed == 0
        updated(world, spec, OTHER_CODE)
        assert settled(world) == [("one", "success")]
        assert world.shown("one-out") == {"a": "other"}


def test_a_version_that_comes_back_before_the_other_has_run_needs_no_second_job(
    world: PipelineWorld,
) -> None:
    spec = made(world, "one", reads(PHOTOS))
    world.put({"a": "x"})
    settled(world)
    updated(world, spec, OTHER_CODE)
    updated(world, spec, CODE)
    assert settled(world) == [("one", "skipped")]
    assert world.shown("one-out") == {"a": "x"}


def test_each_update_that_is_accepted_is_another_life_and_one_that_changes_nothing_is_none(
    world: PipelineWorld,
) -> None:
    spec = made(world, "one", reads(PHOTOS))
    lives = [load_graph(world.lake).node("one").life]
    for code, reprocess in [(OTHER_CODE, False), (CODE, False), (CODE, True), (OTHER_CODE, True)]:
        record = updated(world, spec, code, reprocess=reprocess)
        lives.append(load_graph(world.lake).node("one").life)
        assert updated(world, spec, code) == record == get_pipeline(world.lake, "one")
        assert load_graph(world.lake).node("one").life == lives[-1]
    assert len(set(lives)) == len(lives)


def test_a_pipeline_of_before_updates_were_named_keeps_the_life_that_it_has(
    world: PipelineWorld,
) -> None:
    made(world, "one", reads(PHOTOS))
    world.put({"a": "x"})
    settled(world)
    record = get_pipeline(world.lake, "one")
    known = {name: said for name, said in msgspec.to_builtins(record).items() if name != "update"}
    row = msgspec.json.encode(known)
    old = msgspec.json.decode(row, type=PipelineRecord)
    assert (old, old.update) == (record, "")
    incarnation = f"{record.unique_identifier}/"
    life = hashed([record.version.encode(), incarnation.encode()]).hex()
    assert load_graph(world.lake).node("one").life == life
    assert settled(world) == []


def test_an_update_that_was_taken_back_leaves_nothing_of_what_ran_meanwhile(
    world: PipelineWorld,
) -> None:
    """Two updates that close a circle together: one sees the other, when a sweep has run it."""
    made(world, "left", reads(PHOTOS))
    right = made(world, "right", reads(PHOTOS))
    world.put({"a": "x"})
    settled(world)
    left = made_of(right, "left", reads_from="right-out")
    swaps = 0

    def rivals(call: Call) -> Fault:
        nonlocal swaps
        if call.operation == "set_if" and call.key == b"specs/right":
            swaps += 1
            if swaps == 1:
                world.world.sleep(1)
                updated(world.again(), left, CODE)
            else:
                assert ("right", "success") in settled(world.again())
                assert world.shown("right-out") == {"a": "other"}
        return Fault.OK

    late = world.again(Faulty(world.kept, rivals, world.world))
    with pytest.raises(InvalidInput, match="circle"):
        updated(late, made_of(right, "right", reads_from="left-out"), OTHER_CODE)
    assert swaps == 2
    settled(world)
    assert world.shown("right-out") == {"a": "x"}
    assert world.shown("left-out") == {"a": "x"}


def made_of(spec: Spec, name: str, *, reads_from: str) -> Spec:
    """Say a pipeline like another one, that reads something else."""
    output = msgspec.structs.replace(spec.output, repo=f"{name}-out")
    return msgspec.structs.replace(spec, pipeline=name, input=reads(reads_from), output=output)
