# SPDX-License-Identifier: Apache-2.0
"""Runs of all scopes, as many as asked for: short ones for every test run, long ones for campaigns.

explored(limit)   every scope in every order that can matter, each up to a limit
failed(orders)    each call of each process of a scope fails, in each way, in so many orders
"""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple

from lochan.faults import Fault
from lochan.testing.simulation import Explored, explore, fail_each, random_runs
from lochan.testing.simulation.explorer import Check, Make, PlanMaker
from support.forgetting_scopes import FORGETTING_SCOPES
from support.moved_scopes import MOVED_SCOPES
from support.protocol_scopes import SCOPES, Scope
from support.simulated_lake import Scene
from support.simulated_repositories import REPOSITORY_SCOPES

ALL: dict[str, Scope] = {**SCOPES, **FORGETTING_SCOPES, **MOVED_SCOPES, **REPOSITORY_SCOPES}
FAULTS = (
    Fault.ERROR,
    Fault.LOST_REQUEST,
    Fault.LOST_RESPONSE,
    Fault.CRASH_BEFORE,
    Fault.CRASH_AFTER,
)


@cache
def explored(name: str, limit: int) -> Explored:
    """Run a scope in every order that can matter, or in so many."""
    scope = ALL[name]
    seen = explore(scope.make, scope.check, limit=limit)
    if seen.wrong is not None:
        seen.wrong.add_note(f"run again: replay({name!r}, {seen.schedule})")
    return seen


def summary(results: Iterable[Explored]) -> str:
    """Say what explorations did, in one line."""
    seen = list(results)
    executions = sum(each.executions for each in seen)
    complete = sum(each.complete for each in seen)
    wrong = sum(each.wrong is not None for each in seen)
    return (
        f"{executions:,} executions of {len(seen)} scopes, {complete} of them complete,"
        f" {wrong} violations"
    )


class Failure(NamedTuple):
    """One call that failed, and what came of it."""

    scope: str
    process: str
    fault: Fault
    number: int
    seen: Explored

    def require_clean(self) -> None:
        """Raise what went wrong, with what failed."""
        if self.seen.wrong is not None:
            place = f"{self.fault} of call {self.number} of {self.process} in {self.scope!r}"
            self.seen.wrong.add_note(f"{place}, schedule {self.seen.schedule}")
            raise self.seen.wrong


def some_orders(make: Make[Scene], check: Check[Scene], plan: PlanMaker, orders: range) -> Explored:
    """Run a scene under a plan, once a seed."""
    return random_runs(make, check, orders, plan=plan)


def failed(
    names: Iterable[str], faults: Iterable[Fault] = FAULTS, orders: range = range(1)
) -> Iterator[Failure]:
    """Fail each call of each process, in each way."""
    search = partial(some_orders, orders=orders)
    for name in names:
        scope = ALL[name]
        for process in scope.cast:
            for fault in faults:
                each = fail_each(scope.make_faulty, scope.check, process, fault, search)
                for number, seen in enumerate(each, 1):
                    yield Failure(name, process, fault, number, seen)
