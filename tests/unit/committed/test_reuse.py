# SPDX-License-Identifier: Apache-2.0
"""Seed 001's day of 20 commits, small: at least 99 % of the ranges are reused."""

from statistics import mean

import pytest

from lochan.committed import Cuts
from lochan.model.ids import EMPTY_TREE
from support.day_of_commits import HEADING, SEED_REUSE, Begin, Day, line, run
from support.generated_rows import generated
from support.trees import memory_objects, open_snapshots

RECORDS, RAGGEDNESS = 50_000, 60


@pytest.mark.parametrize("share", [0.05, 0.20])
@pytest.mark.parametrize("begin", Begin)
def test_a_commit_reuses_what_the_seed_expects(share: float, begin: Begin) -> None:
    objects, day = memory_objects(), Day(share, density=0.1, begin=begin)
    with open_snapshots(objects, Cuts(RAGGEDNESS), memory_bytes=8 << 20) as snapshots:
        base = snapshots.apply(EMPTY_TREE, [generated(0, RECORDS)]).id
        commits = run(objects, snapshots, base, day)
    print(HEADING, line(day, commits), sep="\n")
    # Rows that begin inside a range end inside another: one range more than the seed counts.
    edge = 1 / commits[0].before if begin is Begin.ANYWHERE else 0
    assert mean(each.reuse for each in commits) >= SEED_REUSE - edge
    assert min(each.reuse for each in commits) < 1
