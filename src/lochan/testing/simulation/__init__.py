# SPDX-License-Identifier: Apache-2.0
"""A deterministic world for protocol code: simulator, explorer, history and checker.

`World(seed)` runs plain functions as processes that take turns; `explore` runs a small scenario in
every order that can matter; `History` writes down what clients did and `check_history` holds that
against the promises G1 to G7. Needs greenlet.

    def scene(world):
        lake = Lake(world.store(MemoryStore(RealEnvironment())), world.environment)
        history = world.history()
        world.spawn(lambda: history.write("k", "1", lambda: lake.put("k", "1")), "writer")
        world.spawn(lambda: history.commit(lake.commit), "committer")
        return history

    seen = explore(scene, lambda history: check_history(history.operations))
    assert seen.complete and seen.wrong is None, seen

What must be so for an answer to mean something: the stores inside are made with an environment of
their own, everything else with the world's; processes that share memory share it under a lock of
the world, and crash together (`node=`); a scene for the explorer starts no background timer. What
one process has for itself may be made with a `SoloEnvironment`, which spares the explorer steps.
`fail_each` fails every call in turn; `replay` runs again what was found.
"""

from lochan.testing.simulation.checker import Violation, check_history, violations
from lochan.testing.simulation.explorer import (
    Explored,
    brute_force,
    explore,
    fail_each,
    random_runs,
    replay,
)
from lochan.testing.simulation.history import History, Kind, Operation, Result
from lochan.testing.simulation.schedule import InOrder, Pct, RandomOrder, Schedule, Scripted
from lochan.testing.simulation.solo import SoloEnvironment
from lochan.testing.simulation.world import Deadlock, Livelock, World

__all__ = [
    "Deadlock",
    "Explored",
    "History",
    "InOrder",
    "Kind",
    "Livelock",
    "Operation",
    "Pct",
    "RandomOrder",
    "Result",
    "Schedule",
    "Scripted",
    "SoloEnvironment",
    "Violation",
    "World",
    "brute_force",
    "check_history",
    "explore",
    "fail_each",
    "random_runs",
    "replay",
    "violations",
]
