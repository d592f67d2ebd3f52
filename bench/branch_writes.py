# SPDX-License-Identifier: Apache-2.0
"""Branch creation and staged write, sixteen threads, SQLite with fsync, beside the driver's `set`.

The yardstick sets records of the same size as a staged one, by as many threads, which the driver
commits in groups. The three take turns, five times over, and the best of each counts: the disk is
never the same twice.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count

import msgspec

from ground import MAIN, Ground, new_ground
from lochan.model.codec import encode_entry, encode_staged_entry
from lochan.model.entry import Entry, identity
from lochan.model.ids import BranchName, CommitId, ObjectKey
from lochan.model.instant import from_seconds
from lochan.model.keys import STAGED
from lochan.model.records import StagedEntry
from lochan.operations.branches import create_branch
from lochan.operations.put_object import stage_entry
from measure import Row, best, chosen

THREADS = 16
COUNT = chosen(16_000, small=160)  # writes of all threads in a round
ROUNDS = 5
TARGET = 0.6
ENTRY = Entry(
    address="data/gk3v000000000000000/ck3v0111111111111111.parquet",
    last_modified=from_seconds(1_700_000_000),
    size=134_217_728,
    e_tag="2" * 32,
)


def _key(number: int) -> ObjectKey:
    return ObjectKey(b"warehouse/events/day=00000/part-%08d.snappy.parquet" % number)


STAGED_VALUE = encode_staged_entry(StagedEntry(_key(0), identity(ENTRY), encode_entry(ENTRY)))


def main() -> list[Row]:
    """Measure all three in turns."""
    numbers = count()
    with new_ground() as ground, ThreadPoolExecutor(THREADS) as threads:
        kinds: dict[str, Callable[[int], None]] = {
            "set": partial(_set, ground),
            "staged write": partial(_stage, ground),
            "branch creation": partial(_create, ground, ground.head),
        }
        rates = dict.fromkeys(kinds, 0.0)
        for _ in range(ROUNDS):
            for kind, work in kinds.items():
                rates[kind] = max(rates[kind], _rate(threads, work, numbers))
    raw = rates.pop("set")
    return [_row(kind, rate, raw) for kind, rate in rates.items()]


def _rate(threads: ThreadPoolExecutor, work: Callable[[int], None], numbers: "count[int]") -> float:
    """Say how often a second sixteen callers, each waiting for its answer, get one."""
    share = COUNT // THREADS

    def caller(_: int) -> None:
        for _ in range(share):
            work(next(numbers))

    timing = best(lambda: list(threads.map(caller, range(THREADS))), times=1)
    return share * THREADS / timing.wall_s


def _set(ground: Ground, number: int) -> None:
    ground.lake.store.set(b"raw", STAGED + _key(number), STAGED_VALUE)


def _stage(ground: Ground, number: int) -> None:
    stage_entry(ground.lake, ground.repository, MAIN, _key(number), ENTRY)


def _create(ground: Ground, head: CommitId, number: int) -> None:
    create_branch(ground.lake, ground.repository, BranchName(f"branch-{number}"), head)


def _row(kind: str, rate: float, raw: float) -> Row:
    return Row(
        f"{kind}, SQLite with fsync, {THREADS} threads",
        f"{rate:,.0f}/s",
        f"the driver's set {raw:,.0f}/s",
        rate / raw,
        f">= {TARGET:g}x",
        rate >= TARGET * raw,
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
