# SPDX-License-Identifier: Apache-2.0
"""A process that reads a snapshot through a disk tier: `python -m support.tier_reader`.

Takes the folder of the objects, the folder of the tier, the snapshot, "near" or "gone" for the
truth, and the tier's bytes. Ends with 0 when the snapshot holds what it should, three times over.
"""

import sys
from pathlib import Path

from lochan.committed import DiskTier, Files, Snapshots
from lochan.faults import Fault
from lochan.model.ids import MetaRangeId
from lochan.objects.faulty import Faulty, no_faults
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore
from support.trees import ENVIRONMENT, SMALL, content, numbered

ROWS = numbered(60)


def open_tiers(
    objects: ObjectStore, folder: Path, *, disk_bytes: int = 1 << 20, memory_bytes: int = 0
) -> Snapshots:
    """Open the snapshots of a store with a disk tier, and no memory tier unless asked for."""
    disk = DiskTier(folder, disk_bytes, ENVIRONMENT)
    files = Files(objects, ENVIRONMENT, disk=disk, memory_bytes=memory_bytes)
    return Snapshots(files, ENVIRONMENT, cuts=SMALL, threads=4)


def local_objects(folder: Path) -> ObjectStore:
    """Open a store of local files."""
    return open_objects(f"local://{folder}", ENVIRONMENT)


def far_objects(folder: Path, *, reachable: bool = True) -> ObjectStore:
    """Open local objects behind a wrapper that hides their paths, like a store far away."""
    plan = no_faults if reachable else (lambda _: Fault.ERROR)
    return Faulty(local_objects(folder), plan, ENVIRONMENT)


def main(store: str, folder: str, found: str, truth: str, capacity: str) -> None:
    objects = far_objects(Path(store), reachable=truth == "near")
    with open_tiers(objects, Path(folder), disk_bytes=int(capacity)) as snapshots:
        for _ in range(3):
            assert content(snapshots, MetaRangeId(found)) == ROWS


if __name__ == "__main__":
    main(*sys.argv[1:])
