# SPDX-License-Identifier: Apache-2.0
"""Collection while everybody works, at length: V13 of the reliability plan.

make verify-ci   5,000 seeds
make verify      100,000 seeds
"""

import pytest

from support.collected_crowd import run_crowd, run_marked, run_renamed
from support.tally import Tally

pytestmark = pytest.mark.beside_others
CHUNK = 500  # seeds a test
CI, NIGHTLY = 5_000, 100_000
CHUNKS = [
    *[pytest.param(first, marks=pytest.mark.ci_campaign) for first in range(0, CI, CHUNK)],
    *[pytest.param(first, marks=pytest.mark.campaign) for first in range(CI, NIGHTLY, CHUNK)],
]


@pytest.mark.parametrize("first", CHUNKS)
def test_rel_V13_no_live_object_ever_goes_and_every_dead_one_does(first: int, tally: Tally) -> None:
    seen = run_crowd(range(first, first + CHUNK))
    tally(seeds=seen.executions, violations=int(seen.wrong is not None))
    if seen.wrong is not None:
        raise seen.wrong


@pytest.mark.ci_campaign
def test_rel_H19_whatever_moves_meanwhile_is_marked(tally: Tally) -> None:
    for run in (run_marked, run_renamed):
        seen = run(range(1_000))
        tally(seeds=seen.executions, violations=int(seen.wrong is not None))
        if seen.wrong is not None:
            raise seen.wrong
