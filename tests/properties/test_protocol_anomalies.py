# SPDX-License-Identifier: Apache-2.0
"""What seed 004 does not promise, exhibited on the real code and accepted by the checker.

So the checker is known not to be too strict, and the runs at random not too weak.
"""

from collections.abc import Sequence

from lochan.model.ids import ObjectKey
from lochan.operations.read_object import stat_object
from lochan.testing.simulation import Schedule, World, random_runs
from lochan.testing.simulation.chance import Chance
from support.lakes import MAIN
from support.simulated_client import Client, Work
from support.simulated_ground import SNAPSHOTS, Ground
from support.simulated_lake import Scene

MOST = 4000  # runs within which an anomaly must be seen


class Seen(Exception):
    """A history that nobody would expect, and that is allowed."""


class MostlyObserver:
    """At random, but the observer has most of the turns: writers are slow beside it."""

    def __init__(self, seed: int) -> None:
        self._chance = Chance(seed, "observer")

    def choose(self, enabled: Sequence[str]) -> str:
        if "observer" in enabled and self._chance.happens(0.7):
            return "observer"
        return self._chance.pick(enabled)


def committed(scene: Scene) -> str:
    """Give the first letter of what each commit of main holds, oldest first."""
    chain = list(scene.chain(scene.branches()[MAIN].commit_id))
    trees = (SNAPSHOTS.tree(commit.meta_range_id) for commit in reversed(chain))
    return "".join(tree["a"][0] for tree in trees if tree)


def look_for(anomalies: Sequence[str], scene: Scene) -> None:
    scene.check()
    history = committed(scene)
    if any(each in history for each in anomalies):
        raise Seen(history)


def started_with(tag: str) -> Ground:
    def prepare(ground: Ground) -> None:
        ground.put("a", tag)
        ground.commit("first")

    return Ground(prepare)


ONE, B = started_with("1"), started_with("B")


def increment(scene: Scene, client: Client) -> Work:
    """Read a number, and write the next: an unsafe increment."""

    def read() -> str:
        return stat_object(client.lake, scene.repository, MAIN, ObjectKey(b"a")).address

    def work() -> None:
        found = scene.history.read(f"{MAIN}:a", read)
        assert found is not None
        client.put("a", f"{int(found[0]) + 1}{client.name}")()

    return work


def two_increments(world: World) -> Scene:
    scene = Scene(world, ONE)
    for name in ("p", "q"):
        client = Client(scene, name)
        client.does(increment(scene, client))
    observer = Client(scene, "observer")
    observer.does(*[observer.commit()] * 3)
    return scene


def two_updates(world: World) -> Scene:
    scene = Scene(world, B)
    for name in ("A", "N"):
        client = Client(scene, name)
        client.does(client.put("a", name))
    observer = Client(scene, "observer")
    observer.does(*[observer.commit()] * 4)
    return scene


def test_rel_N1_a_history_may_read_1_3_2() -> None:
    seen = random_runs(two_increments, lambda scene: look_for(["132"], scene), range(MOST))
    print(f"N1: {seen.wrong} after {seen.executions} runs")
    assert isinstance(seen.wrong, Seen)


def test_rel_N2_a_history_may_read_B_A_N_A() -> None:
    def order(seed: int) -> Schedule:
        return MostlyObserver(seed)

    look = ["BANA", "BNAN"]
    seen = random_runs(two_updates, lambda s: look_for(look, s), range(MOST), order=order)
    print(f"N2: {seen.wrong} after {seen.executions} runs")
    assert isinstance(seen.wrong, Seen)
