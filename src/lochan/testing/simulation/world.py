# SPDX-License-Identifier: Apache-2.0
"""A world under one seed: processes, time, chance, stores and what goes wrong with them.

    world = World(seed=7, plan=random_faults(7, 0.02, [Fault.LOST_RESPONSE], most=3))
    store = world.store(MemoryStore(RealEnvironment()))
    world.spawn(lambda: lake.write("a", "1"))
    world.spawn(lambda: lake.commit())
    world.run()

The same seed and scenario give the same `trace`. Whatever processes share must be reached through
the world: its stores, and things guarded by its locks. A plain dictionary shared without a lock is
invisible to the explorer, which then tries too few orders.
"""

from collections.abc import Callable
from typing import TypeVar

from lochan.errors import InvalidInput
from lochan.kv.store import Store
from lochan.objects.store import ObjectStore
from lochan.testing.simulation.access import Mode
from lochan.testing.simulation.calls import Calls
from lochan.testing.simulation.environment import SimulatedEnvironment
from lochan.testing.simulation.faults import Plan, no_faults
from lochan.testing.simulation.history import History
from lochan.testing.simulation.kv import PAGE_ROWS, SimulatedStore
from lochan.testing.simulation.objects import SimulatedObjects
from lochan.testing.simulation.schedule import RandomOrder, Schedule
from lochan.testing.simulation.turns import MAX_STEPS, Deadlock, Livelock, Stuck, Taken, Turns

__all__ = ["Deadlock", "Livelock", "Stuck", "Taken", "World"]

Key = TypeVar("Key")
Value = TypeVar("Value")


class World:
    """One run, from its scene to its end."""

    def __init__(
        self,
        seed: int = 0,
        *,
        plan: Plan = no_faults,
        schedule: Schedule | None = None,
        footprints: bool = True,
    ) -> None:
        """Let the seed decide everything; the schedule is at random unless one is given.

        Without `footprints` the trace does not say what steps touched, and a run takes less time.
        """
        self.seed = seed
        self.schedule = schedule or RandomOrder(seed)
        self._turns = Turns(footprints=footprints)
        self.environment = SimulatedEnvironment(seed, self._turns)
        self._calls = Calls(self._turns, self.environment, plan)

    @property
    def trace(self) -> list[Taken]:
        """The steps taken so far."""
        return self._turns.trace

    def spawn(
        self, work: Callable[[], object], name: str | None = None, *, node: str | None = None
    ) -> str:
        """Add a process; those of one node share memory, and crash together."""
        name = name or f"p{len(self._turns.processes)}"
        return self._turns.spawn(work, name, node)

    def store(self, inner: Store, *, page_rows: int = PAGE_ROWS) -> SimulatedStore:
        """Make every call of a KV store a switch point."""
        return SimulatedStore(inner, self._calls, page_rows)

    def objects(self, inner: ObjectStore) -> SimulatedObjects:
        """Make every call of an object store a switch point."""
        return SimulatedObjects(inner, self._calls, self.environment)

    def history(self) -> History:
        """Make a history: invocations are stamped when the first step of the call is taken."""

        def later(stamp: Callable[[], None]) -> None:
            process = self._turns.current
            if process is None:
                stamp()
            else:
                process.deferred.append(stamp)

        return History(
            later=later,
            invoked=lambda: self._turns.touch("history", None, Mode.INVOKE),
            responded=lambda: self._turns.touch("history", None, Mode.RESPOND),
        )

    def stale(self, read: Callable[[Key], Value]) -> Callable[[Key], Value]:
        """Put the worst of caches before a read: it may give any value that it ever gave (G13)."""
        seen: dict[Key, list[Value]] = {}
        thing = self._turns.thing("cache")

        def cached(key: Key) -> Value:
            known = seen.setdefault(key, [])
            self._turns.touch(thing, None, Mode.WRITE)
            chosen = self.environment.chance("cache").below(len(known) + 1)
            if chosen < len(known):
                return known[chosen]
            value = read(key)
            known.append(value)
            return value

        return cached

    def crash(self, node: str) -> None:
        """Let all processes of a node die where they are."""
        if all(process.node != node for process in self._turns.processes.values()):
            raise InvalidInput(f"no process was spawned on node {node}; name one with node=")
        self._turns.crash(node)

    def jump(self, seconds: float) -> None:
        """Move the wall clock, back or forth."""
        self.environment.jump(seconds)

    def run(self, *, max_steps: int = MAX_STEPS) -> None:
        """Run to the end. Raises what a process raised, Deadlock or Livelock."""
        self._turns.run(self.schedule, max_steps)
