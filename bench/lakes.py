# SPDX-License-Identifier: Apache-2.0
"""Lakes of a given size on local disk, made once and kept under .cache/bench."""

import os
import shutil
from pathlib import Path

from lake_data import chunks
from lochan.committed import Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.model.ids import MetaRangeId
from lochan.objects.open import open_objects

FOLDER = Path(__file__).resolve().parent.parent / ".cache" / "bench"
# To be raised with every change of the format, the cuts or the made-up data: old lakes would
# otherwise be measured for new ones.
VERSION = 1


def folder_of(count: int) -> Path:
    """Say where the lake of the first `count` records lies."""
    return FOLDER / f"v{VERSION}-{count}"


def open_lake(count: int, *, memory_bytes: int = 4 << 30) -> tuple[Snapshots, MetaRangeId]:
    """Open the lake of the first `count` records, making it where it does not exist yet."""
    folder = folder_of(count)
    environment = RealEnvironment()
    objects = open_objects(f"local://{folder / 'objects'}", environment)
    snapshots = Snapshots(Files(objects, environment, memory_bytes=memory_bytes), environment)
    name = folder / "metarange"
    if not name.exists():
        name.write_text(snapshots.apply(MetaRangeId(""), chunks(count)).id)
    return snapshots, MetaRangeId(name.read_text())


def link_lake(count: int, folder: Path) -> MetaRangeId:
    """Put the files of such a lake below a folder, too, without their bytes; name its tree."""
    snapshots, tree = open_lake(count)
    snapshots.close()
    shutil.copytree(folder_of(count) / "objects", folder, copy_function=os.link)
    return tree
