# SPDX-License-Identifier: Apache-2.0
"""The net holds: each hole in a toy protocol is found, and its repair is clean in every order."""

from collections.abc import Callable
from itertools import takewhile

import pytest

from lochan.testing.simulation import RandomOrder, Schedule, explore, random_runs, replay
from support.toy_lake import LITERAL_TRIM, Rules
from support.toy_scenes import HOLES, Scene, by_priority, two_commits, two_increments


@pytest.mark.parametrize("hole", HOLES)
def test_the_explorer_finds_the_hole(hole: str) -> None:
    make, rules, promise = HOLES[hole]
    seen = explore(make(rules), Scene.check, limit=2_000)
    print(f"{hole}: found after {seen.executions} executions")

    assert promise in str(seen.wrong)


@pytest.mark.parametrize("hole", HOLES)
def test_the_repaired_protocol_is_clean_in_every_order(hole: str) -> None:
    make, _, _ = HOLES[hole]
    seen = explore(make(Rules()), Scene.check)
    print(f"{hole}, repaired: {seen}")

    assert seen.wrong is None
    assert seen.complete


# H8 needs thousands of runs at random; the campaign has them.
@pytest.mark.parametrize("hole", sorted(HOLES.keys() - {"H8 joined read in flight"}))
@pytest.mark.parametrize("order", [RandomOrder, by_priority])
def test_runs_at_random_find_the_hole_too(hole: str, order: Callable[[int], Schedule]) -> None:
    make, rules, _ = HOLES[hole]
    seen = random_runs(make(rules), Scene.check, range(1_000), order=order)
    print(f"{hole}, {order.__name__}: found after {seen.executions} executions")

    assert isinstance(seen.wrong, AssertionError)


@pytest.mark.parametrize("hole", HOLES)
def test_no_run_at_random_ends_as_the_explorer_never_saw(hole: str) -> None:
    make, _, _ = HOLES[hole]
    seen = explore(make(Rules()), Scene.check)
    runs = random_runs(make(Rules()), Scene.check, range(200))
    print(f"{hole}: {len(runs.outcomes)} of {len(seen.outcomes)} outcomes in 200 runs at random")

    assert runs.outcomes.keys() <= seen.outcomes.keys()


def test_what_was_found_is_found_again_from_its_schedule() -> None:
    make = two_commits(LITERAL_TRIM)
    seen = explore(make, Scene.check)
    world, again = replay(make, Scene.check, seen.schedule)

    assert str(again.wrong) == str(seen.wrong)
    assert tuple(taken.process for taken in world.trace)[: len(seen.schedule)] == seen.schedule


def test_rel_N1_the_sequence_1_3_2_is_seen_and_accepted() -> None:
    observed: list[list[str | None]] = []

    def check(scene: Scene) -> None:
        scene.check()
        observed.append(scene.observed)

    until_seen = takewhile(lambda _: ["1", "3", "2"] not in observed, range(20_000))
    seen = random_runs(two_increments(Rules()), check, until_seen, order=by_priority)
    print(f"1-3-2 in the last of {seen.executions} runs")

    assert seen.wrong is None
    assert observed[-1] == ["1", "3", "2"]
