# SPDX-License-Identifier: Apache-2.0
"""Pipelines whose sweeps stand still somewhere while others go on, and what they must show at last.

A *story* is some pipelines over `photos` and `other`, and what they make of what is there. Files
are copied, or joined in a diamond, so that what was read behind a head can be seen.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.pipelines.jobs.job_records import open_jobs
from lochan.pipelines.model.spec import Trigger, UnionInput
from lochan.pipelines.schedule.sweep import sweep
from lochan.pipelines.specs.registry import load_graph
from support.lake_ground import QuietWorld
from support.pipeline_graph import diamond, drive_all, made, reads, settled
from support.pipeline_world import PHOTOS, PipelineWorld

OTHER = "other"
EACH = Trigger(each_commit=True)
Shown = Mapping[str, Mapping[str, str]]
Act = Callable[[PipelineWorld], object]


class SkewedWorld(QuietWorld):
    """Another machine of the same world, whose clock goes wrong."""

    def __init__(self, world: QuietWorld, skew_s: float) -> None:
        super().__init__()
        self._world = world
        self._skew_s = skew_s

    def now(self) -> float:
        return self._world.now() + self._skew_s

    def monotonic(self) -> float:
        return self._world.monotonic()

    def sleep(self, seconds: float) -> None:
        self._world.sleep(seconds)

    def new_id(self) -> str:
        return self._world.new_id()

    def random_bytes(self, count: int) -> bytes:
        return self._world.random_bytes(count)


def elsewhere(world: PipelineWorld, skew_s: float) -> PipelineWorld:
    """Give another process, on a machine whose clock is wrong by so much."""
    return replace(world, world=SkewedWorld(world.world, skew_s)).again()


@dataclass(frozen=True, slots=True)
class Story:
    """Pipelines, and what their outputs must show of what their inputs show."""

    make: Act
    shown: Callable[[Mapping[str, str], Mapping[str, str]], Shown]

    def new(self) -> PipelineWorld:
        """Give a world in which nothing has run yet."""
        world = PipelineWorld.open(PHOTOS, OTHER)
        self.make(world)
        world.put({"a": "0"})
        world.put({"b": "0"}, to=OTHER)
        return world

    def begun(self) -> PipelineWorld:
        """Give a world in which jobs have run, and an input has moved since."""
        world = self.new()
        settled(world)
        world.put({"a": "1"})
        settled(world)
        world.put({"a": "2"})
        return world

    def require_shown(self, world: PipelineWorld, where: str) -> None:
        """See that in the end all outputs are of the inputs' heads, and that there is an end."""
        settled(world)
        assert list(open_jobs(world.lake.store)) == [], where
        wanted = self.shown(world.shown(PHOTOS), world.shown(OTHER))
        assert {name: world.shown(name) for name in wanted} == wanted, where


def both_inputs(world: PipelineWorld, trigger: Trigger | None = None) -> None:
    inputs = UnionInput(inputs=(reads(PHOTOS), reads(OTHER, "right")))
    made(world, "one", inputs, "either", trigger)


def _joined(photos: Mapping[str, str]) -> Mapping[str, str]:
    return {"both": 2 * "".join(photos[key] for key in sorted(photos))}


STORIES: Mapping[str, Story] = {
    "one input": Story(
        lambda world: made(world, "one", reads(PHOTOS)),
        lambda photos, _: {"one-out": photos},
    ),
    "two inputs": Story(
        both_inputs,
        lambda photos, other: {"one-out": {**photos, **other}},
    ),
    "each commit": Story(
        lambda world: made(world, "one", reads(PHOTOS), trigger=EACH),
        lambda photos, _: {"one-out": photos},
    ),
    "each commit of two inputs": Story(
        lambda world: both_inputs(world, EACH),
        lambda photos, other: {"one-out": {**photos, **other}},
    ),
    "two pipelines": Story(
        lambda world: [made(world, name, reads(PHOTOS)) for name in ("one", "two")],
        lambda photos, _: {"one-out": photos, "two-out": photos},
    ),
    "diamond": Story(
        diamond,
        lambda photos, _: {"left-out": photos, "right-out": photos, "both-out": _joined(photos)},
    ),
}


def stale_sweeps(
    start: PipelineWorld, meanwhile: Act, skew_s: float = 0.0
) -> Iterator[tuple[int, PipelineWorld]]:
    """Give a world for each call of a sweep, at which it stood still while others did something.

    What others do is done from another machine; the clock of the one that sweeps is wrong.
    """
    for number in count(1):
        world = start.copy()

        def stand_still(call: Call, world: PipelineWorld = world, number: int = number) -> Fault:
            if call.number == number:
                meanwhile(world.again())
            return Fault.OK

        store = Faulty(world.kept, stand_still, world.world)
        graph = load_graph(world.lake)
        sweep(elsewhere(world, skew_s).again(store).lake, graph)
        if store.calls < number:
            return
        yield number, world


def swept_and_driven(world: PipelineWorld) -> None:
    sweep(world.lake, load_graph(world.lake))
    drive_all(world)
