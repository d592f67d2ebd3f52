# SPDX-License-Identifier: Apache-2.0
"""Random look-ups in a snapshot of many records, batched and one by one.

`python bench/look_ups.py 200000000` measures a lake of another size; it is made first, and kept.
"""

import random
import shutil
import sys

import msgspec
import numpy as np
from rocksdict import Rdict

import yardstick
from lake_data import chunks, keys
from lakes import FOLDER, open_lake
from measure import Row, best, peak_mib

COUNT = 10_000_000
BATCH = 500_000
SEED_RATE = 500_000  # seed 001: close to 500k random GetObject calls a second


def main(count: int) -> list[Row]:
    """Measure look-ups in a lake of `count` records."""
    snapshots, metarange = open_lake(count, memory_bytes=64 << 30)
    numbers = np.random.default_rng(1).integers(0, count, BATCH).astype(np.uint64)
    wanted = list(keys(numbers))
    found = snapshots.get_many(metarange, wanted)
    assert all(map(len, found.identities)), "every key asked for exists"
    batched = BATCH / best(lambda: snapshots.get_many(metarange, wanted)).wall_s
    some = wanted[: BATCH // 10]
    single = len(some) / best(lambda: [snapshots.get(metarange, key) for key in some]).wall_s
    name = f"{count // 1_000_000} million"
    rows = [
        Row(
            f"get_many, random keys among {name}, warm",
            f"{batched:,.0f} keys/s",
            f"seed 001: {SEED_RATE:,} keys/s",
            batched / SEED_RATE,
            ">= 500,000 keys/s",
            batched >= SEED_RATE,
        ),
        Row(
            f"get, one by one through the tree of {name}",
            f"{single:,.0f} keys/s",
            f"seed 001: {SEED_RATE:,} keys/s",
            single / SEED_RATE,
            "report",
            None,
        ),
    ]
    if count <= COUNT:
        theirs = _rocksdict_rate(count, some)
        rows.append(
            Row(
                f"get_many beside a loop of single gets, {name}",
                f"{batched:,.0f} keys/s",
                f"rocksdict {theirs:,.0f} keys/s",
                batched / theirs,
                ">= 3x",
                batched >= 3 * theirs,
            )
        )
    rows.append(
        Row("memory of the look-ups, files mapped", f"{peak_mib()} MiB", "", None, "", None)
    )
    return rows


def _rocksdict_rate(count: int, wanted: list[bytes]) -> float:
    """Measure single gets from a store of the same records, made of files of the same size."""
    folder = FOLDER / f"rocksdict-{count}"
    if not (folder / "CURRENT").exists():
        shutil.rmtree(folder, ignore_errors=True)
        store = Rdict(str(folder), yardstick.options())
        for number, chunk in enumerate(chunks(count, 50_000)):
            table = FOLDER / f"{number}.sst"
            yardstick.write(table, yardstick.pairs(chunk))
            store.ingest_external_file([str(table)])
            table.unlink()
        store.close()
    store = Rdict(str(folder), yardstick.options())
    random.Random(2).shuffle(wanted)
    rate = len(wanted) / best(lambda: [store[key] for key in wanted]).wall_s
    store.close()
    return rate


if __name__ == "__main__":
    sys.stdout.buffer.write(
        msgspec.json.encode(main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT))
    )
