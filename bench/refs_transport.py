# SPDX-License-Identifier: Apache-2.0
"""Dump and restore the refs of a repository with 100,000 commits, SQLite.

The history is that of `kinship`, grown in memory and copied, with its branches. The dump is
restored into a bare repository of the same lake, and dumped again: both dumps must be equal. The
yardsticks are the driver's own: a scan of the repository's rows, and set_many of as many.
"""

import sys
from collections import deque
from collections.abc import Iterable
from itertools import islice

import msgspec

from ground import MAIN, Ground, new_ground
from kinship import REPOSITORY, grown
from lochan.environment import RealEnvironment
from lochan.kv.open import open_store
from lochan.kv.set_many import set_many
from lochan.kv.store import Pair
from lochan.model.ids import RepositoryId
from lochan.model.keys import partition_of
from lochan.model.records import Repository
from lochan.operations.dump_refs import dump_refs
from lochan.operations.refs_dump import RefsDump
from lochan.operations.restore_refs import restore_refs
from lochan.refs.creation import create_bare_repository
from measure import Row, Timing, best, chosen

COUNT = chosen(100_000, small=1_000)
CHUNK_ROWS = 5_000


def main() -> list[Row]:
    """Measure both ways, three times each."""
    with new_ground() as ground:
        source = _bare(ground, "source")
        rows = _copied(ground, source)
        dumps: list[RefsDump] = []
        dumping = best(lambda: dumps.append(dump_refs(ground.lake, source)))
        bare = [_bare(ground, f"target-{number}") for number in range(3)]
        targets = iter(bare)
        restoring = best(lambda: restore_refs(ground.lake, next(targets), dumps[0]))
        assert {*dumps, dump_refs(ground.lake, bare[0])} == {dumps[0]}, "equal refs, equal dumps"
        scan = best(lambda: deque(ground.lake.store.scan(partition_of(source)), maxlen=0))
        pairs = list(ground.lake.store.scan(partition_of(source)))
        setting = best(lambda: _set_in_chunks(ground, b"raw", pairs))
    return [
        _row("dump", dumping, f"scan of its {rows:,} rows", scan),
        _row("restore", restoring, f"set_many of {rows:,} rows", setting),
    ]


def _bare(ground: Ground, name: str) -> Repository:
    lake = ground.lake
    namespace = ground.repository.storage_namespace
    return create_bare_repository(lake.store, lake.environment, RepositoryId(name), namespace, MAIN)


def _copied(ground: Ground, target: Repository) -> int:
    """Grow the history where a write costs little, then copy its rows; gives their number."""
    memory = open_store("memory://", RealEnvironment())
    history = grown(memory, COUNT)
    for name, branch in history.branches.items():
        if branch.commit_id == history.heads[name].id:
            history.tables.branches.set(name.encode(), branch)
    rows = list(memory.scan(partition_of(REPOSITORY)))
    _set_in_chunks(ground, partition_of(target), rows)
    return len(rows)


def _set_in_chunks(ground: Ground, partition: bytes, rows: Iterable[Pair]) -> None:
    source = iter(rows)
    while chunk := list(islice(source, CHUNK_ROWS)):
        set_many(ground.lake.store, partition, chunk)


def _row(what: str, ours: Timing, yardstick: str, theirs: Timing) -> Row:
    return Row(
        f"{what} the refs of {COUNT:,} commits, SQLite",
        f"{COUNT / ours.wall_s:,.0f} commits/s, {ours.wall_s:.1f} s",
        f"{yardstick} {theirs.wall_s:.1f} s",
        theirs.wall_s / ours.wall_s,
        "report",
        None,
    )


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(main()))
