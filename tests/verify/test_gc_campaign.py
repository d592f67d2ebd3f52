# SPDX-License-Identifier: Apache-2.0
"""Collection while everybody works, at length: V13 of the reliability plan.

make verify-ci   5,000 seeds
make verify      100,000 seeds, and 10,000 of each who name what is dead, or about to be
"""

import pytest

from lochan.testing.simulation import Explored
from support.collected_again import run_grown, run_named_again, run_reverted
from support.collected_crowd import run_crowd, run_marked, run_renamed
from support.tally import Tally

pytestmark = [pytest.mark.beside_others, pytest.mark.by_imports]
CHUNK = 500  # seeds a test
CI, NIGHTLY = 5_000, 100_000
CHUNKS = [
    *[pytest.param(first, marks=pytest.mark.ci_campaign) for first in range(0, CI, CHUNK)],
    *[pytest.param(first, marks=pytest.mark.campaign) for first in range(CI, NIGHTLY, CHUNK)],
]


LATER = range(1_000, 10_000)


def none_is_wrong(seen: Explored, tally: Tally) -> None:
    tally(seeds=seen.executions, violations=int(seen.wrong is not None))
    if seen.wrong is not None:
        raise seen.wrong


@pytest.mark.parametrize("first", CHUNKS)
def test_rel_V13_no_live_object_ever_goes_and_every_dead_one_does(first: int, tally: Tally) -> None:
    none_is_wrong(run_crowd(range(first, first + CHUNK)), tally)


AGAIN = {"reverted": run_reverted, "copied": run_grown, "named": run_named_again}


@pytest.mark.parametrize("how", AGAIN)
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=mark)
        for mark, seeds in ((pytest.mark.ci_campaign, range(1_000)), (pytest.mark.campaign, LATER))
        for first in seeds[::CHUNK]
    ],
)
def test_rel_V13_nothing_goes_that_somebody_may_be_naming(
    first: int, how: str, tally: Tally
) -> None:
    none_is_wrong(AGAIN[how](range(first, first + CHUNK)), tally)


@pytest.mark.ci_campaign
def test_rel_H19_whatever_moves_meanwhile_is_marked(tally: Tally) -> None:
    for run in (run_marked, run_renamed):
        none_is_wrong(run(range(1_000)), tally)
