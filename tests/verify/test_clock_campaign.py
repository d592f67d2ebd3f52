# SPDX-License-Identifier: Apache-2.0
"""Kinship in many longer random histories, with the shortest possible lists and as shipped."""

from random import Random

import pytest

from lochan.refs import reach
from support.clock_world import World, act, check

pytestmark = [pytest.mark.beside_others, pytest.mark.by_imports]
KINDS = ["commit"] * 3 + ["unplaced"] + ["merge"] * 5 + ["reset", "recreate", "fork"]
SEEDS = 250  # for each way of cutting


def history(seed: int) -> int:
    """Make a history, ask about 300 pairs, and say how many commits it has."""
    drawn = Random(seed)
    world = World()
    world.create("a")
    commits = [world.commit("a")]
    for _ in range(drawn.randint(20, 120)):
        among = drawn.choice([8, 10**6])  # new commits alone, or any
        act(world, commits, drawn.choice(KINDS), drawn.choice("abcdef"), drawn.randrange(among))
    everybody = range(len(commits))
    pairs = [(drawn.choice(everybody), drawn.choice(everybody)) for _ in range(300)]
    check(world, commits, pairs=pairs)
    return len(commits)


@pytest.mark.campaign
@pytest.mark.parametrize("front", [0, 1, 16])
def test_every_answer_agrees_with_the_model(front: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "_FRONT", front)
    commits = sum(history(seed) for seed in range(SEEDS))
    print(f"{SEEDS} histories, {commits} commits, {300 * SEEDS} pairs: none wrong")
