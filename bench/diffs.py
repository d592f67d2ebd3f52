# SPDX-License-Identifier: Apache-2.0
"""Compare two snapshots that differ in ten keys, among a million records and among ten million."""

import sys
from statistics import median

import msgspec
import numpy as np

from lake_data import of_numbers
from lakes import open_lake
from measure import Row, best

SIZES = (1_000_000, 10_000_000)
CHANGES = 10


def main() -> list[Row]:
    """Measure both sizes; draws of changed keys are repeated, since few ranges make much chance."""
    timed = {count: _measure(count) for count in SIZES}
    small, large = (timed[count] for count in SIZES)
    return [
        Row(
            f"diff, {CHANGES} changed keys among 10 million",
            f"{large[0] * 1e3:.1f} ms, {large[1]:.0f} files opened",
            f"among 1 million {small[0] * 1e3:.1f} ms, {small[1]:.0f} files",
            large[0] / small[0],
            "<= 1.5x the time",
            large[0] <= 1.5 * small[0],
        )
    ]


def _measure(count: int) -> tuple[float, float]:
    """Time a diff with nothing opened before; gives seconds and files opened."""
    times, opened = [], []
    for draw in range(5):
        snapshots, left = open_lake(count)
        # One in each tenth of the lake: drawn freely, several would share one of the few ranges of
        # the smaller lake, which then has less to open.
        drawn = (np.arange(CHANGES) + np.random.default_rng(draw).random(CHANGES)) / CHANGES
        changed = of_numbers((drawn * count).astype(np.uint64), version=3)
        right = snapshots.apply(left, [changed]).id

        def compare() -> None:
            fresh, _ = open_lake(count)
            found = sum(len(part) for part in fresh.diff(left, right))  # noqa: B023 - called at once
            assert found == CHANGES
            opened.append(fresh.files.opened)
            fresh.close()

        times.append(best(compare).wall_s)
        snapshots.close()
    return median(times), median(opened)


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
