# SPDX-License-Identifier: Apache-2.0
"""The explorer, judged by brute force: it may skip orders, never outcomes."""

from collections import Counter

import pytest
from hypothesis import given, settings

from lochan.testing.simulation import World, brute_force, explore, random_runs
from support.tiny_programs import Instruction, Machine, compared, maker, programs


@pytest.mark.parametrize("calls", [True, False])
def test_the_explorer_sees_every_outcome_that_brute_force_sees(*, calls: bool) -> None:
    counted: Counter[str] = Counter()

    @settings(max_examples=40, deadline=None)
    @given(programs(3, 3))
    def compare(bodies: list[list[Instruction]]) -> None:
        counted.update(compared(bodies, calls=calls, limit=300))

    compare()
    print(dict(counted))
    assert counted["programs"] >= 5


def test_independent_processes_need_one_execution() -> None:
    bodies = [[("set", "x"), ("set", "x")], [("set", "y"), ("set", "y")]]
    seen = explore(maker(bodies, calls=False), Machine.outcome)

    assert (seen.executions, seen.pruned) == (1, 0)
    assert brute_force(maker(bodies, calls=False), Machine.outcome).executions == 6


def test_a_lost_update_is_found_by_all_three() -> None:
    def make(world: World) -> Machine:
        return Machine(world, [[("get", "y"), ("set", "x")], [("set", "y")]], calls=False)

    def check(machine: Machine) -> bool:
        assert machine.saw["p0"][0] is None, "the other was first"
        return True

    assert "the other was first" in str(explore(make, check).wrong)
    assert "the other was first" in str(brute_force(make, check).wrong)
    assert "the other was first" in str(random_runs(make, check, range(50)).wrong)


def test_a_deadlock_is_wrong() -> None:
    def make(world: World) -> World:
        one, other = world.environment.lock(), world.environment.lock()

        def nest(outer: object, inner: object) -> None:
            with outer, inner:  # type: ignore[attr-defined]  # locks, both
                pass

        world.spawn(lambda: nest(one, other))
        world.spawn(lambda: nest(other, one))
        return world

    seen = explore(make, lambda _: None)

    assert "nobody can go on" in str(seen.wrong)
    assert seen.executions > 1


def test_a_scenario_that_differs_from_run_to_run_is_refused() -> None:
    runs = []

    def make(world: World) -> Machine:
        runs.append(1)
        return Machine(world, [[("set", "x")]] * (1 + len(runs)), calls=False)

    assert "differs from run to run" in str(explore(make, Machine.outcome).wrong)


def test_a_scenario_whose_names_differ_from_run_to_run_is_refused() -> None:
    """Its processes would seem never to touch the same thing, and one order enough."""
    runs = []

    def make(world: World) -> Machine:
        runs.append(1)
        return Machine(world, [[("set", f"x{len(runs) // 2}"), ("set", "y")]] * 2, calls=False)

    assert "differs from run to run" in str(explore(make, Machine.outcome).wrong)


def test_a_limit_leaves_an_exploration_incomplete() -> None:
    bodies = [[("set", "x")] * 3] * 3
    seen = explore(maker(bodies, calls=False), Machine.outcome, limit=5)

    assert not seen.complete
    assert seen.executions == 5
