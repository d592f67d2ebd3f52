# SPDX-License-Identifier: Apache-2.0
"""Seed 001's day of 20 commits, small: 99 % of the ranges are reused."""

from statistics import mean

import pytest

from lochan.committed import Cuts
from lochan.model.ids import EMPTY_TREE
from support.day_of_commits import HEADING, Begin, Day, line, run
from support.generated_rows import generated
from support.trees import memory_objects, open_snapshots

RECORDS, RAGGEDNESS = 25_000, 30


@pytest.mark.parametrize("share", [0.05, 0.20])
@pytest.mark.parametrize("begin", Begin)
def test_rel_D3_a_commit_reuses_what_the_seed_expects(share: float, begin: Begin) -> None:
    objects, day = memory_objects(), Day(share, density=0.1, begin=begin)
    with open_snapshots(objects, Cuts(RAGGEDNESS), memory_bytes=8 << 20) as snapshots:
        base = snapshots.apply(EMPTY_TREE, [generated(0, RECORDS)]).id
        commits = run(objects, snapshots, base, day)
    print(HEADING, line(day, commits), sep="\n")
    reuse = mean(each.reuse for each in commits)
    assert day.least_reuse(commits[0].before) <= reuse < 1
    assert round(reuse, 2) >= 0.99
