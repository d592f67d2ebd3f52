# SPDX-License-Identifier: Apache-2.0
"""Small scenes in the toy lake, for the explorer: who does what at the same time."""

from collections.abc import Callable, Hashable
from contextlib import suppress

from lochan.environment import RealEnvironment
from lochan.errors import Unavailable
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.testing.simulation import History, Operation, Pct, World, check_history
from support.toy_lake import (
    JOINED_READ,
    LITERAL_TRIM,
    NO_RECHECK,
    SKIPPED_DELETE,
    STAGING_RECHECK,
    Rules,
    ToyLake,
    Tree,
)


class Scene:
    """A lake, its history, and what its clients do; `check` holds one against the other."""

    def __init__(self, world: World, rules: Rules, initial: Tree | None = None) -> None:
        store = world.store(MemoryStore(RealEnvironment()), page_rows=2)
        self.lake = ToyLake(store, world.environment, rules)
        self.lake.create(initial)
        self.initial = initial or {}
        self.history: History = world.history()
        self.observed: list[str | None] = []

    def put(self, key: str, identity: str) -> Callable[[], None]:
        return self._told(
            lambda: self.history.write(key, identity, lambda: self.lake.put(key, identity))
        )

    def delete(self, key: str) -> Callable[[], None]:
        return self._told(lambda: self.history.write(key, None, lambda: self.lake.delete(key)))

    def get(self, key: str, times: int = 1) -> Callable[[], None]:
        def work() -> None:
            for _ in range(times):
                self.observed.append(self.history.read(key, lambda: self.lake.get(key)))

        return self._told(work)

    def commit(self) -> None:
        self._told(lambda: self.history.commit(self.lake.commit))()

    def _told(self, work: Callable[[], None]) -> Callable[[], None]:
        """A client that is told of an error has that in its history, and lives on."""

        def client() -> None:
            with suppress(Unavailable):
                work()

        return client

    def check(self) -> Hashable:
        keys = {*self.initial, *(o.key for o in self.history.operations if o.key)}
        final = self.lake.state(keys)
        self.history.final(final)
        check_history(self.history.operations, self.initial)
        return self._outcome(), tuple(sorted(final.items()))

    def _outcome(self) -> Hashable:
        """All that clients can tell apart: what each call gave, and which came before which."""
        calls = {(str(o.kind), o.key, _said(o), o.result): o for o in self.history.operations[:-1]}
        before = [
            (one, other)
            for one, first in calls.items()
            for other, second in calls.items()
            if first.response < second.invocation
        ]
        sealed = len(self.lake.branch().branch.sealed)
        return tuple(sorted(calls)), tuple(sorted(before)), sealed


def _said(operation: Operation) -> str:
    """What a call gave, without ids that differ from seed to seed."""
    if operation.tree is None:
        return str(operation.identity)
    return str(sorted(operation.tree.items()))


def chain(*works: Callable[[], None]) -> Callable[[], None]:
    """One client that does one thing after another."""

    def work() -> None:
        for part in works:
            part()

    return work


def two_commits(rules: Rules) -> Callable[[World], Scene]:
    """A writer that commits, and another committer (H1)."""

    def make(world: World) -> Scene:
        scene = Scene(world, rules)
        world.spawn(chain(scene.put("a", "a1"), scene.commit), "one")
        world.spawn(scene.commit, "two")
        return scene

    return make


def write_beside_two_commits(rules: Rules) -> Callable[[World], Scene]:
    """A writer and two committers, each a process."""

    def make(world: World) -> Scene:
        scene = Scene(world, rules)
        world.spawn(scene.put("a", "a1"), "writer")
        world.spawn(scene.commit, "one")
        world.spawn(scene.commit, "two")
        return scene

    return make


def read_beside_commit(rules: Rules) -> Callable[[World], Scene]:
    """A reader while what was written before is committed and cleaned (H2)."""

    def make(world: World) -> Scene:
        scene = Scene(world, rules)
        scene.put("a", "a1")()
        world.spawn(scene.commit, "committer")
        world.spawn(scene.get("a"), "reader")
        return scene

    return make


def delete_beside_commit(rules: Rules) -> Callable[[World], Scene]:
    """A delete of what is staged, while it is committed (H4)."""

    def make(world: World) -> Scene:
        scene = Scene(world, rules)
        scene.put("a", "a1")()
        world.spawn(scene.commit, "committer")
        world.spawn(scene.delete("a"), "deleter")
        return scene

    return make


def two_writers_beside_commit(rules: Rules) -> Callable[[World], Scene]:
    """Two writers of one server, whose branch reads are shared, and a commit (H8)."""

    def make(world: World) -> Scene:
        scene = Scene(world, rules)
        world.spawn(scene.put("a", "a1"), "one")
        world.spawn(scene.put("b", "b1"), "two")
        world.spawn(scene.commit, "committer")
        return scene

    return make


def two_increments(rules: Rules) -> Callable[[World], Scene]:
    """Seed 004's 1-3-2: two unsafe increments of one number, and an observer (N1)."""

    def make(world: World) -> Scene:
        scene = Scene(world, rules, {"n": "1"})

        def increment() -> None:
            seen = scene.history.read("n", lambda: scene.lake.get("n"))
            scene.put("n", str(int(seen or "0") + 1))()

        world.spawn(increment, "one")
        world.spawn(increment, "two")
        scene.get("n")()
        world.spawn(scene.get("n", times=2), "observer")
        world.spawn(scene.commit, "committer")
        return scene

    return make


def by_priority(seed: int) -> Pct:
    """Make the schedule of a seed, for scenes of about forty steps."""
    return Pct(seed, depth=4, steps=40)


# The scene in which each hole shows, the rules that have it, and the promise that it breaks.
HOLES = {
    "H1 literal trim": (two_commits, LITERAL_TRIM, "G6"),
    "H2 no re-check": (read_beside_commit, NO_RECHECK, "G1"),
    "H3 re-check of the staging token": (read_beside_commit, STAGING_RECHECK, "G1"),
    "H4 lost delete": (delete_beside_commit, SKIPPED_DELETE, "G7"),
    "H8 joined read in flight": (two_writers_beside_commit, JOINED_READ, "G7"),
}

# What may happen to a call without a broken promise; a zombie breaks one by itself.
FAULTS = [
    Fault.ERROR,
    Fault.LOST_REQUEST,
    Fault.LOST_RESPONSE,
    Fault.CRASH_BEFORE,
    Fault.CRASH_AFTER,
]
