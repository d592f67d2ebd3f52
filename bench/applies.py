# SPDX-License-Identifier: Apache-2.0
"""Apply changes to 20 million records: scattered over all ranges, and clustered in a few.

The yardstick is what one would write in Python: iterate a rocksdict store, merge, hash with
hashlib, write with SstFileWriter. It is measured on a million records with as many changes per
record.
"""

import shutil
import sys

import msgspec
import numpy as np

import yardstick
from lake_data import of_numbers, records
from lakes import FOLDER, open_lake
from lochan.kernel.records import Records
from measure import Row, best, peak_mib

COUNT = 20_000_000
CHANGES = 500_000
SAMPLE = 1_000_000
MIB = 1 << 20


def scattered(count: int, changes: int) -> Records:
    """Change records drawn at random from all over the lake."""
    drawn = np.random.default_rng(3).choice(count, changes, replace=False)
    return of_numbers(np.sort(drawn).astype(np.uint64), version=1)


def main() -> list[Row]:
    """Measure both, in a process of its own, so that its memory can be told."""
    snapshots, base = open_lake(COUNT, memory_bytes=64 * MIB)
    changes = scattered(COUNT, CHANGES)
    assert snapshots.apply(base, [changes]).changed == CHANGES
    spread = best(lambda: snapshots.apply(base, [changes]))
    together = records(COUNT // 3, COUNT // 3 + CHANGES, version=2)
    clustered = best(lambda: snapshots.apply(base, [together]))
    memory = peak_mib()
    ours, theirs = spread.wall_s / COUNT * 1e9, _rocksdict_ns()
    rate = CHANGES / clustered.wall_s
    return [
        Row(
            f"apply {CHANGES:,} scattered changes to 20 million",
            f"{spread.wall_s:.1f} s wall, {spread.cpu_s:.1f} s CPU; {ours:.0f} ns/record",
            f"Python over rocksdict {theirs:.0f} ns/record",
            theirs / ours,
            ">= 5x",
            theirs >= 5 * ours,
        ),
        Row("memory of both applies", f"{memory} MiB", "", None, "< 1024 MiB", memory < 1024),
        Row(
            f"apply {CHANGES:,} clustered changes to 20 million",
            f"{rate:,.0f} changes/s",
            "",
            None,
            ">= 400,000 changes/s",
            rate >= 400_000,
        ),
    ]


def _rocksdict_ns() -> float:
    folder = FOLDER / "rocksdict-merge"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    table = folder / "base.sst"
    yardstick.write(table, yardstick.pairs(records(0, SAMPLE)))
    store = yardstick.ingest(folder / "store", table)
    changes = yardstick.pairs(scattered(SAMPLE, SAMPLE * CHANGES // COUNT))
    timing = best(lambda: yardstick.merge(store, changes, folder / "merged.sst"))
    store.close()
    shutil.rmtree(folder)
    return timing.wall_s / SAMPLE * 1e9


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
