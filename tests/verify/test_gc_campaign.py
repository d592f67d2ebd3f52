# SPDX-License-Identifier: Apache-2.0
"""Collection while everybody works, at length: V13 of the reliability plan.

make verify-ci   5,000 seeds
make verify      100,000 seeds, and 10,000 of those who build on what is about to expire
"""

import pytest

from lochan.testing.simulation import Explored
from support.collected_crowd import run_crowd, run_marked, run_renamed, run_reverted
from support.tally import Tally

pytestmark = pytest.mark.beside_others
CHUNK = 500  # seeds a test
CI, NIGHTLY = 5_000, 100_000
CHUNKS = [
    *[pytest.param(first, marks=pytest.mark.ci_campaign) for first in range(0, CI, CHUNK)],
    *[pytest.param(first, marks=pytest.mark.campaign) for first in range(CI, NIGHTLY, CHUNK)],
]


def none_is_wrong(seen: Explored, tally: Tally) -> None:
    tally(seeds=seen.executions, violations=int(seen.wrong is not None))
    if seen.wrong is not None:
        raise seen.wrong


@pytest.mark.parametrize("first", CHUNKS)
def test_rel_V13_no_live_object_ever_goes_and_every_dead_one_does(first: int, tally: Tally) -> None:
    none_is_wrong(run_crowd(range(first, first + CHUNK)), tally)


@pytest.mark.campaign
@pytest.mark.parametrize("first", range(1_000, 10_000, CHUNK))
def test_rel_V13_nothing_goes_on_which_somebody_may_be_building(first: int, tally: Tally) -> None:
    none_is_wrong(run_reverted(range(first, first + CHUNK)), tally)


@pytest.mark.ci_campaign
def test_rel_H19_whatever_moves_meanwhile_is_marked(tally: Tally) -> None:
    for run in (run_marked, run_renamed, run_reverted):
        none_is_wrong(run(range(1_000)), tally)
