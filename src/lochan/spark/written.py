# SPDX-License-Identifier: Apache-2.0
"""What Spark's writer has left below an address, ready to be linked.

On a disk the files and their folders are synced first, as every object of a lake is before somebody
is told of it; Hadoop's own checksum files are taken away, since nobody would ever collect them. A
name that the local driver would write with escapes (`city=Köln`) is given one that it writes as it
stands: physical names mean nothing.
"""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession

from lochan.environment import Environment
from lochan.spark.places import Place, is_plain_address
from lochan.spark.resolved import is_data

_SYNCING: Final = 8
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Written(NamedTuple):
    """A file: its logical path below the address, its physical one, size and time."""

    path: str
    physical: str
    size: int
    mtime: int


def list_written(spark: SparkSession, place: Place, environment: Environment) -> list[Written]:
    """Give the files that a job has committed, in order of their paths."""
    if place.scheme == "file":
        return synced(place, environment)
    return sorted(_in_cloud(spark, place))


def synced(place: Place, environment: Environment) -> list[Written]:
    """Give the files below a folder of this machine, once they will outlive a power loss."""
    with environment.executor(_SYNCING) as pool:
        return sorted(_on_disk(Path(place.path), pool))


def _on_disk(top: Path, pool: Executor) -> Iterator[Written]:
    """Sync and name the files of a tree, deepest folders first."""
    odd = 0
    found: list[Written] = []
    folders: list[Path] = []
    for folder, _, names in os.walk(top):
        folders.append(Path(folder))
        for name in names:
            file = Path(folder, name)
            path = str(file.relative_to(top))
            if not is_data(path):
                file.unlink()
                continue
            physical = path
            if not is_plain_address(path):
                physical = f"named{odd}{''.join(file.suffixes)}"
                file = file.rename(top / physical)
                odd += 1
            known = file.stat()
            found.append(Written(path, physical, known.st_size, int(known.st_mtime)))
    list(pool.map(lambda one: _sync(top / one.physical, os.O_RDONLY), found))
    list(pool.map(lambda one: _sync(one, _FOLDER), [*reversed(folders), *_above(top)]))
    yield from found


def _above(top: Path) -> Iterable[Path]:
    return top.parent, top.parent.parent  # data/<partition> and data: Spark may have made both


def _sync(path: Path, flags: int) -> None:
    opened = os.open(path, flags)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _in_cloud(spark: SparkSession, place: Place) -> Iterator[Written]:
    """List by Hadoop, which wrote it."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - what Spark's Python gives no name to
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001 - same
    top = jvm.org.apache.hadoop.fs.Path(str(place))
    listed = top.getFileSystem(hadoop).listFiles(top, True)  # noqa: FBT003 - recursively
    while listed.hasNext():
        status = listed.next()
        path = status.getPath().toUri().getPath().removeprefix(place.path).lstrip("/")
        if is_data(path):
            yield Written(path, path, status.getLen(), status.getModificationTime() // 1000)
