# SPDX-License-Identifier: Apache-2.0
"""A deterministic world for protocol code: simulator, explorer, history and checker.

`World(seed)` runs plain functions as processes that take turns; `explore` runs a small scenario in
every order that can matter; `History` writes down what clients did and `check_history` holds that
against the promises G1 to G7. Needs greenlet.
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
