# SPDX-License-Identifier: Apache-2.0
"""One fault at each call of each process, in some orders; the campaign has every order."""

import pytest

from lochan.faults import Fault
from lochan.testing.simulation import Explored, World, explore, fail_each, random_runs
from lochan.testing.simulation.explorer import Check, Make, PlanMaker
from support.toy_lake import Rules
from support.toy_scenes import FAULTS, Scene, two_commits


def some_orders(make: Make[Scene], check: Check[Scene], plan: PlanMaker) -> Explored:
    return random_runs(make, check, range(5), plan=plan)


def every_order(make: Make[Scene], check: Check[Scene], plan: PlanMaker) -> Explored:
    return explore(make, check, plan=plan)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_repaired_toy_keeps_its_promises_whatever_call_fails(fault: Fault) -> None:
    seen = [
        each
        for process in ["one", "two"]
        for each in fail_each(two_commits(Rules()), Scene.check, process, fault, some_orders)
    ]
    runs = sum(each.executions for each in seen)
    print(f"{fault}: {len(seen)} calls failed, {runs} runs")

    assert [each.wrong for each in seen if each.wrong] == []
    assert len(seen) > 20


def test_rel_H16_a_zombie_write_is_caught() -> None:
    def make(world: World) -> Scene:
        scene = Scene(world, Rules())

        def work() -> None:
            scene.put("a", "a1")()
            scene.put("a", "a2")()

        world.spawn(work, "one")
        return scene

    seen = fail_each(make, Scene.check, "one", Fault.ZOMBIE, every_order)

    assert any("G7: final found a1" in str(each.wrong) for each in seen)
