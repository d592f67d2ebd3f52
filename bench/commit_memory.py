# SPDX-License-Identifier: Apache-2.0
"""The memory of one large commit, SQLite: a million staged objects, or as many as are asked for.

`python bench/commit_memory.py 10000000` is what the campaign runs.
"""

import sys

import msgspec

from ground import MAIN, new_ground, stage_objects
from lochan.operations.commit import CommitRequest, commit
from measure import Row, best, chosen, peak_mib

COUNT = chosen(1_000_000, small=5_000)
LIMIT_MIB = 1024


def main(count: int) -> list[Row]:
    """Stage, then commit, and ask how much was resident at most."""
    with new_ground() as ground:
        staging = best(lambda: stage_objects(ground, count), times=1)
        staged = peak_mib()
        said = CommitRequest("bench", "large")
        timing = best(lambda: commit(ground.lake, ground.repository, MAIN, said), times=1)
        record = ground.lake.tables(ground.repository).commits.get(ground.head.encode()).record
        snapshots = ground.lake.storage(ground.repository.storage_namespace).snapshots
        memory = peak_mib()
        ranges = snapshots.files.metarange(record.meta_range_id)
        assert sum(each.count for each in ranges) == count
    return [
        Row(
            f"memory of a commit of {count:,} staged objects",
            f"{memory} MiB at most; {timing.wall_s:.1f} s",
            f"before it {staged} MiB; staging {staging.wall_s:.1f} s",
            memory / staged,
            f"< {LIMIT_MIB} MiB",
            memory < LIMIT_MIB,
        )
    ]


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:] if word.isdigit()]
    sys.stdout.buffer.write(msgspec.json.encode(main(*asked or [COUNT])))
