# SPDX-License-Identifier: Apache-2.0
"""Servers that crash, stores that fail and clocks that jump, at length: V3 of the reliability plan.

    make verify-ci   20,000 seeds
    make verify      500,000 seeds

It is the longest of the campaigns, and stands in a file of its own so that what only the others
import may change beside it. `[nightly-1000500]` is 500 seeds from 1,000,500 on.
"""

import pytest

from support.chaos import run_chaos
from support.tally import Tally

pytestmark = [pytest.mark.beside_others, pytest.mark.by_imports]
FIRST = 1_000_000
CHUNK = 500  # seeds a test
COLUMNS = ((20_000, pytest.mark.ci_campaign, "ci"), (500_000, pytest.mark.campaign, "nightly"))
CHUNKS = [
    pytest.param(first, marks=mark, id=f"{name}-{first}")
    for seeds, mark, name in COLUMNS
    for first in range(FIRST, FIRST + seeds, CHUNK)
]


@pytest.mark.parametrize("first", CHUNKS)
def test_rel_V3_servers_that_crash_stores_that_fail_and_clocks_that_jump(
    first: int, tally: Tally
) -> None:
    run_chaos(first, CHUNK)
    tally(seeds=CHUNK)
