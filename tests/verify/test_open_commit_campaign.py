# SPDX-License-Identifier: Apache-2.0
"""Open commits in a simulated world, many orders, with and without faults and crashes."""

import pytest

from lochan.faults import Fault
from lochan.model.records import Slot
from support.open_commit_scene import LOST, run_rivals, run_seeds

pytestmark = [pytest.mark.beside_others, pytest.mark.by_imports]
SEEDS = 2_000
ALL = (*LOST, Fault.ERROR, Fault.CRASH_BEFORE, Fault.CRASH_AFTER)


@pytest.mark.campaign
@pytest.mark.parametrize(("faults", "kinds"), [(0, LOST), (5, LOST), (6, ALL)])
def test_an_open_commit_is_published_once_with_all_that_was_acknowledged(
    faults: int, kinds: tuple[Fault, ...]
) -> None:
    steps = run_seeds(10_000, SEEDS, faults, kinds)
    print(f"{SEEDS} runs, {steps} steps, up to {faults} faults each: no violation")


@pytest.mark.campaign
@pytest.mark.parametrize(("faults", "kinds"), [(0, LOST), (5, LOST), (6, ALL)])
def test_rel_P2_an_open_commit_is_published_once_though_its_branch_is_reset(
    faults: int, kinds: tuple[Fault, ...]
) -> None:
    steps = run_seeds(20_000, SEEDS, faults, kinds, resets=3)
    print(f"{SEEDS} runs, {steps} steps, up to {faults} faults each, with resets: no violation")


@pytest.mark.campaign
@pytest.mark.parametrize(("slot", "winners"), [(Slot.BEGINS, 1), (Slot.CONTINUES, 1)])
def test_rel_P2_of_rivals_for_one_place_exactly_one_wins(slot: Slot, winners: int) -> None:
    assert {len(run_rivals(seed, slot)) for seed in range(SEEDS)} == {winners}
