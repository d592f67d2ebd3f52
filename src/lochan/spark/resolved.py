# SPDX-License-Identifier: Apache-2.0
"""What a ref shows below a path, once, as files that Spark can be told of.

A ref is pinned first: what it shows is listed at a commit, so that a read never mixes two states. A
branch's staged view is read only where that is asked for (or on the branch of a job, which is its
own): its entries are listed as they are now, and what they point to never changes.

A commit of a lake in this process, on a disk, is listed from its ranges, a column at a time: nobody
has to be asked what may be seen, and ten thousand files take some ten milliseconds. Others are
listed as every client lists them.

Spark passes over names that begin with a dot or an underscore, and so does this; `_a=1` is a
partition.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lochan.client.commit import Commit
from lochan.client.job import is_job_branch
from lochan.client.lake import Lake
from lochan.client.reference import Reference
from lochan.errors import InvalidInput, NotFound
from lochan.model.uri import Uri
from lochan.shapes.objects import ObjectStats
from lochan.spark.entry_arrays import MOMENT
from lochan.spark.known_lake import KnownLake
from lochan.spark.reach import Reach, find_reach
from lochan.spark.table_tasks import objects_tasks

_SUMMARIES: Final = ("_metadata", "_common_metadata")
_ON_DISK: Final = "local://"
_MICROSECONDS: Final = 1_000_000
_COLUMNS: Final = pa.schema(
    [
        ("path", pa.string()),
        ("physical_address", pa.string()),
        ("size_bytes", pa.int64()),
        ("mtime", MOMENT),
    ]
)


class File(NamedTuple):
    """An object: its path below what is read, and where its bytes lie."""

    path: str
    address: str  # in full; empty for a file of several blocks
    size: int
    mtime: int
    key: str  # the object's whole path


class Resolved(NamedTuple):
    """What is read: the pinned reference, the folder that paths are below, and the files."""

    reference: Reference
    folder: str  # from which on folders are partitions
    files: list[File]
    read: str  # the folder that was asked for

    def below(self, path: str) -> "Resolved":
        """Take partitions from a folder above on. Raises InvalidInput for one that is not."""
        folder = path.strip("/") + "/" if path.strip("/") else ""
        if not self.folder.startswith(folder):
            raise InvalidInput(f"basePath {path!r} is not above {self.folder!r}")
        files = [file._replace(path=file.key.removeprefix(folder)) for file in self.files]
        return self._replace(folder=folder, files=files)

    @property
    def root(self) -> str:
        """Give a name for the folder that says what was read."""
        place = (self.reference.repository_id, self.reference.id, self.folder.rstrip("/"))
        return "/" + "/".join(filter(None, ("lochan", *place)))


def resolve(lake: Lake, uri: Uri, *, staged: bool = False) -> Resolved:
    """List what an address shows. Raises NotFound where that is nothing."""
    if not uri.ref:
        raise InvalidInput(f"{uri} names no ref; write lochan://repository/ref/path")
    named = lake.repository(uri.repository).ref(uri.ref)
    pinned, tree = named, None
    folder = uri.path.rstrip("/") + "/" if uri.path.strip("/") else ""
    if not staged and not is_job_branch(uri.ref):
        commit = named.get_commit()
        pinned = lake.repository(uri.repository).ref(commit.id)
        tree = _find_tree(lake, uri.repository, commit)
    files = list(_files(pinned, folder) if tree is None else _files_of(tree, folder))
    if not files and folder:
        folder, files = _single(pinned, uri.path)
    if not files:
        raise NotFound(f"there is nothing to read at {uri}", code="nothing-to-read")
    return Resolved(pinned, folder, files, folder)


def _files(reference: Reference, folder: str) -> Iterator[File]:
    for stats in reference.objects(folder, user_metadata=False):
        path = stats.path.removeprefix(folder)
        if is_data(path):
            yield _file(stats, path)


class _Tree(NamedTuple):
    """A commit's tree, and how its ranges are read."""

    reach: Reach
    id: str


def _find_tree(lake: Lake, repository_id: str, commit: Commit) -> _Tree | None:
    """Give the tree of a commit whose ranges lie in this process's own lake, on a disk."""
    repository = lake.repository(repository_id)
    if lake.credentials is not None or not repository.properties.storage_namespace.startswith(
        _ON_DISK
    ):
        return None
    return _Tree(find_reach(KnownLake.of(lake), repository), commit.meta_range_id)


def _files_of(tree: _Tree, folder: str) -> Iterator[File]:
    tasks = objects_tasks(tree.reach, tree.id, folder, _COLUMNS)
    for number in range(len(tasks)):
        for batch in tasks.batches(number):
            paths, addresses, sizes = (batch.column(at).to_pylist() for at in range(3))
            moments = pc.divide(batch.column(3).cast(pa.int64()), _MICROSECONDS).to_pylist()
            for key, address, size, mtime in zip(paths, addresses, sizes, moments, strict=True):
                path = key.removeprefix(folder)
                if is_data(path):
                    yield File(path, address, size, mtime, key)


def _single(reference: Reference, path: str) -> tuple[str, list[File]]:
    found = reference.object(path)
    folder, _, name = path.rpartition("/")
    try:
        stats = found.stat()
    except NotFound:
        return folder, []
    return f"{folder}/" if folder else "", [_file(stats, name)]


def _file(stats: ObjectStats, path: str) -> File:
    return File(path, stats.physical_address, stats.size_bytes or 0, stats.mtime, stats.path)


def is_data(path: str) -> bool:
    """Say whether Spark would read a file of this path."""
    return bool(path) and not path.endswith("/") and not any(map(_is_hidden, path.split("/")))


def _is_hidden(name: str) -> bool:
    if name.startswith(_SUMMARIES):
        return False
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or not name
