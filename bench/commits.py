# SPDX-License-Identifier: Apache-2.0
"""Commit half a million staged objects, SQLite: from the call to its answer.

Staging in bulk and the clean-up of the token's rows are shown beside it. Each of three runs has a
branch and content of its own, so that no file is there already. The yardstick is the driver's own
scan of the staged rows.
"""

import sys
from collections import deque
from dataclasses import dataclass

import msgspec

from ground import Ground, new_ground, stage_objects
from lochan.model.ids import BranchName
from lochan.model.keys import token_partition
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.refs.cleaner import Cleaner
from measure import Row, Timing, best, chosen

COUNT = chosen(500_000, small=5_000)
TARGET = 100_000
LAKEFS = 17_000  # objects a second: the best figure that lakeFS publishes


@dataclass(frozen=True, slots=True)
class Run:
    """What became of the same objects, step by step."""

    staging: Timing
    scan: Timing
    commit: Timing
    clean_up: Timing


def main() -> list[Row]:
    """Measure three commits, and keep the best of each step."""
    with new_ground() as ground:
        runs = [_run(ground, number) for number in range(3)]
    rate = COUNT / min(run.commit.wall_s for run in runs)
    cpu = COUNT / min(run.commit.cpu_s for run in runs)
    scan = COUNT / min(run.scan.wall_s for run in runs)
    staging = COUNT / min(run.staging.wall_s for run in runs)
    clean_up = COUNT / min(run.clean_up.wall_s for run in runs)
    return [
        Row(
            f"commit {COUNT:,} staged objects, SQLite",
            f"{rate:,.0f} objects/s; {cpu:,.0f} by CPU time",
            f"their scan alone {scan:,.0f}/s",
            rate / scan,
            f">= {TARGET:,} objects/s",
            rate >= TARGET,
        ),
        Row(
            "the same, beside lakeFS",
            f"{rate:,.0f} objects/s",
            f"published: {LAKEFS:,}/s at most",
            rate / LAKEFS,
            "report",
            None,
        ),
        Row("before it: staging in bulk", f"{staging:,.0f} objects/s", "", None, "report", None),
        Row("after it: clean-up", f"{clean_up:,.0f} objects/s", "", None, "report", None),
    ]


def _run(ground: Ground, number: int) -> Run:
    lake, repository, branch = ground.lake, ground.repository, BranchName(f"run-{number}")
    made = create_branch(lake, repository, branch, ground.head)
    staging = best(lambda: stage_objects(ground, COUNT, branch=branch, version=number), times=1)
    rows = token_partition(made.staging_token)
    scan = best(lambda: deque(lake.store.scan(rows), maxlen=0))
    said = CommitRequest("bench", "half a million")
    timing = best(lambda: commit(lake, repository, branch, said), times=1)
    cleaner = Cleaner(lake.store, lake.environment, grace_s=0)
    clean_up = best(cleaner.run, times=1)
    assert next(lake.store.scan(rows), None) is None, "the cleaner has wiped the token"
    return Run(staging, scan, timing, clean_up)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
