# SPDX-License-Identifier: Apache-2.0
"""The simulation tools at length: the explorer against brute force, and holes at random."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given, settings

from lochan.faults import Fault
from lochan.testing.simulation import (
    Explored,
    RandomOrder,
    Schedule,
    World,
    brute_force,
    explore,
    fail_each,
    random_runs,
)
from lochan.testing.simulation.explorer import Check, Make, PlanMaker
from support.tiny_programs import Instruction, compared, programs
from support.toy_lake import Rules
from support.toy_scenes import (
    FAULTS,
    HOLES,
    Scene,
    by_priority,
    delete_beside_commit,
    read_beside_commit,
    two_commits,
    two_increments,
    write_beside_two_commits,
)

pytestmark = [pytest.mark.campaign, pytest.mark.beside_others, pytest.mark.by_imports]


@pytest.mark.parametrize("calls", [True, False])
def test_the_explorer_sees_every_outcome_of_many_programs(*, calls: bool) -> None:
    counted: Counter[str] = Counter()

    @settings(max_examples=300, deadline=None)
    @given(programs(3, 3))
    def compare(bodies: list[list[Instruction]]) -> None:
        counted.update(compared(bodies, calls=calls, limit=1_000))

    compare()
    print(dict(counted))
    assert counted["programs"] >= 100


@pytest.mark.parametrize("make", [read_beside_commit, delete_beside_commit])
def test_the_toy_has_the_same_outcomes_in_every_order(
    make: Callable[[Rules], Callable[[World], Scene]],
) -> None:
    every = brute_force(make(Rules()), Scene.check)
    seen = explore(make(Rules()), Scene.check)
    print(f"brute force: {every}\nexplored: {seen}")

    assert every.complete
    assert set(seen.outcomes) == set(every.outcomes)


def test_the_repaired_toy_is_clean_beside_two_commits() -> None:
    seen = explore(write_beside_two_commits(Rules()), Scene.check)
    print(seen)

    assert seen.complete
    assert seen.wrong is None


@pytest.mark.parametrize("fault", FAULTS)
def test_the_repaired_toy_keeps_its_promises_whatever_call_fails_in_every_order(
    fault: Fault,
) -> None:
    def every(make: Make[Scene], check: Check[Scene], plan: PlanMaker) -> Explored:
        return explore(make, check, plan=plan)

    seen = [
        each
        for process in ["one", "two"]
        for each in fail_each(two_commits(Rules()), Scene.check, process, fault, every)
    ]
    executions = sum(each.executions for each in seen)
    print(f"{fault}: {len(seen)} calls failed, {executions} executions")

    assert [each.wrong for each in seen if each.wrong] == []
    assert all(each.complete for each in seen)


@pytest.mark.parametrize("hole", HOLES)
@pytest.mark.parametrize("order", [RandomOrder, by_priority])
def test_runs_at_random_find_every_hole_and_no_fault_in_the_repair(
    hole: str, order: Callable[[int], Schedule]
) -> None:
    make, rules, _ = HOLES[hole]
    found = random_runs(make(rules), Scene.check, range(50_000), order=order)
    clean = random_runs(make(Rules()), Scene.check, range(10_000), order=order)
    print(f"{hole}, {order.__name__}: found after {found.executions}; repaired: {clean}")

    assert isinstance(found.wrong, AssertionError)
    assert clean.wrong is None


def test_increments_and_observers_at_random_keep_the_promises() -> None:
    seen = random_runs(two_increments(Rules()), Scene.check, range(30_000))
    print(seen)

    assert seen.wrong is None
