# SPDX-License-Identifier: Apache-2.0
"""Random look-ups in a snapshot of many records, batched and one by one.

`python bench/look_ups.py 200000000` measures a lake of another size; it is made first, and kept.
"""

import random
import shutil
import sys
from functools import partial

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
    name = f"{count // 1_000_000} million"
    rows = []
    for batch in (BATCH,) if count <= COUNT else (BATCH, 10 * BATCH):
        wanted = _drawn(count, batch)
        found = snapshots.get_many(metarange, wanted)
        assert all(map(len, found.identities)), "every key asked for exists"
        rate = batch / best(partial(snapshots.get_many, metarange, wanted)).wall_s
        what = f"get_many, {batch:,} random keys among {name}, warm"
        target = SEED_RATE if count <= COUNT else None
        rows.append(_beside_the_seed(what, rate, target))
    some = wanted[: BATCH // 10]
    single = len(some) / best(lambda: [snapshots.get(metarange, key) for key in some]).wall_s
    rows.append(_beside_the_seed(f"get, one by one through the tree of {name}", single, None))
    if count <= COUNT:
        theirs = _rocksdict_rate(count, some)
        rows.append(
            Row(
                f"get_many beside a loop of single gets, {name}",
                f"{rate:,.0f} keys/s",
                f"rocksdict {theirs:,.0f} keys/s",
                rate / theirs,
                ">= 3x",
                rate >= 3 * theirs,
            )
        )
    rows.append(
        Row("memory of the look-ups, files mapped", f"{peak_mib()} MiB", "", None, "", None)
    )
    return rows


def _drawn(count: int, batch: int) -> list[bytes]:
    numbers = np.random.default_rng(1).integers(0, count, batch).astype(np.uint64)
    return list(keys(numbers))


def _beside_the_seed(what: str, rate: float, target: int | None) -> Row:
    return Row(
        what,
        f"{rate:,.0f} keys/s",
        f"seed 001: {SEED_RATE:,} keys/s",
        rate / SEED_RATE,
        f">= {target:,} keys/s" if target else "report",
        rate >= target if target else None,
    )


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
