# SPDX-License-Identifier: Apache-2.0
"""One table file of 200,000 records: scan, get, write, each beside rocksdict in the same run."""

import random
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

import yardstick
from lake_data import records
from lakes import FOLDER
from lochan.kernel.records import Records
from lochan.sstable import StoredTable, read_table, write_table
from measure import Row, Timing, best

COUNT = 200_000
THREADS = 2


def main() -> list[Row]:
    """Measure all rows of this part."""
    folder = FOLDER / "tables"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = records(0, COUNT)
    with ThreadPoolExecutor(THREADS) as executor:
        file = write_table(rows, "ranges", {}, executor=executor)
        table = read_table(file.data, file.id)
        pairs = yardstick.pairs(rows)
        theirs = folder / "theirs.sst"
        writing = best(lambda: yardstick.write(theirs, pairs))
        store = yardstick.ingest(folder / "store", theirs)
        iterating = best(lambda: [None for _ in store.items()])
        keys = [key for key, _ in pairs]
        random.Random(1).shuffle(keys)
        getting = best(lambda: [store[key] for key in keys])
        return [
            _scan(table, executor, iterating),
            _scan_alone(table, iterating),
            _get(table, keys, getting),
            *_write(rows, executor, writing, folder),
        ]


def _scan(table: StoredTable, executor: ThreadPoolExecutor, theirs: Timing) -> Row:
    middle = table.block_count // 2

    def both() -> list[Records]:
        halves = ((0, middle), (middle, table.block_count))
        return list(executor.map(lambda half: table.scan(*half), halves))

    return _per_record("scan into columns, both cores", best(both), theirs, 5.0)


def _scan_alone(table: StoredTable, theirs: Timing) -> Row:
    return _per_record("scan into columns, one thread", best(table.records), theirs, 5.0)


def _get(table: StoredTable, keys: list[bytes], theirs: Timing) -> Row:
    get = table.table.get
    return _per_record("single get, warm", best(lambda: [get(key) for key in keys]), theirs, 1.2)


def _write(rows: Records, executor: ThreadPoolExecutor, theirs: Timing, folder: Path) -> list[Row]:
    def ours() -> None:
        with (folder / "ours.sst").open("wb") as file:
            file.writelines(write_table(rows, "ranges", {}, executor=executor).parts)

    timing = best(ours)
    cpu = theirs.cpu_s / timing.cpu_s
    return [
        _per_record("write with ids and properties, wall", timing, theirs, 1.0),
        Row(
            "write with ids and properties, CPU",
            f"{timing.cpu_s / COUNT * 1e9:.0f} ns/record",
            f"rocksdict {theirs.cpu_s / COUNT * 1e9:.0f} ns/record",
            cpu,
            "report (0.8x expected)",
            None,
        ),
    ]


def _per_record(what: str, ours: Timing, theirs: Timing, target: float) -> Row:
    ratio = theirs.wall_s / ours.wall_s
    return Row(
        what,
        f"{ours.wall_s / COUNT * 1e9:.0f} ns/record",
        f"rocksdict {theirs.wall_s / COUNT * 1e9:.0f} ns/record",
        ratio,
        f">= {target:g}x",
        ratio >= target,
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
