# SPDX-License-Identifier: Apache-2.0
"""Pipelines that are made at once, and ones whose making failed."""

from contextlib import suppress
from functools import partial
from itertools import count

import pytest

from lochan.errors import LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import RepositoryId, StorageNamespace
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.create_repository import create_repository
from lochan.operations.lake import Lake
from lochan.pipelines.model.spec import Spec
from lochan.pipelines.specs.registry import (
    create_pipeline,
    list_pipelines,
    load_graph,
    update_pipeline,
)
from lochan.testing.simulation import World, random_runs
from support.fault_ground import open_lake
from support.lake_ground import QuietWorld
from support.registered import (
    FILES,
    MAIN,
    NAME,
    SPEC,
    Stage,
    named,
    open_stage,
    repository,
    somewhere,
)

FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_a_pipeline_whose_making_failed_anywhere_can_be_made(fault: Fault) -> None:
    for number in count(1):
        stage = open_stage()
        faulty = Faulty(stage.store, fail_nth(number, fault), stage.world)
        done = False
        with suppress(LochanError, Crashed):
            create_pipeline(
                open_lake(stage.world, faulty, stage.objects), SPEC, FILES, namespaces=somewhere
            )
            done = True
        again = Again(stage)
        assert not done or again.is_there
        again.make()
        if faulty.calls < number:
            assert done
            return


class Again:
    """What somebody does who heard of an error: look, then make the pipeline or update it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.is_there = any(True for _ in list_pipelines(stage.lake))

    def make(self) -> None:
        """Bring it to its end; a namespace that a dead creation claimed is given up."""
        elsewhere = lambda name: StorageNamespace(f"mem://again/{name}")  # noqa: E731 - a word for it
        act = update_pipeline if self.is_there else create_pipeline
        self.stage.world.sleep(200)  # a creation that died is given up after two minutes
        act(self.stage.lake, SPEC, FILES, namespaces=elsewhere)
        assert repository(self.stage.lake).branch_owners == {"main": "counts"}
        assert len(load_graph(self.stage.lake).nodes) == 1


class Race:
    """Two servers that make a pipeline each, at every call one or the other."""

    def __init__(self, world: World, *specs: Spec) -> None:
        quiet, objects = QuietWorld(), dict[StorageNamespace, MemoryObjects]()
        self.inner = MemoryStore(quiet)
        self.lake = open_lake(quiet, self.inner, objects)
        for name in (NAME, "left", "right"):
            create_repository(self.lake, RepositoryId(name), somewhere(RepositoryId(name)), MAIN)
        self.answers: dict[str, str] = {}
        store = world.store(self.inner)
        for number, spec in enumerate(specs):
            lake = Lake.of(store, world.environment, self.lake.storage)
            world.spawn(partial(self._make, lake, spec, str(number)), str(number))

    def _make(self, lake: Lake, spec: Spec, name: str) -> None:
        try:
            create_pipeline(lake, spec, FILES)
        except LochanError as error:
            self.answers[name] = error.code
        else:
            self.answers[name] = "made"

    def outcome(self) -> tuple[str, ...]:
        """Say how it went; who was told so is in the graph, and nobody else is stored."""
        answers = tuple(self.answers[name] for name in sorted(self.answers))
        stored = {one.pipeline for one in list_pipelines(self.lake)}
        assert {node.pipeline for node in load_graph(self.lake).nodes} == stored
        assert len(stored) == answers.count("made") <= 1
        return answers


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (named("right", "left"), "pipeline-cycle"),
        (named("right", NAME, "left"), "output-shared"),
        (named("left", NAME), "pipeline-exists"),
    ],
)
def test_of_two_that_do_not_go_together_and_are_made_at_once_one_is_there_at_most(
    other: Spec, told: str
) -> None:
    def make(world: World) -> Race:
        return Race(world, named("left", "right"), other)

    seen = random_runs(make, Race.outcome, range(150))
    assert seen.wrong is None, seen
    assert {("made", told), (told, "made")} <= set(seen.outcomes)
