# SPDX-License-Identifier: Apache-2.0
"""What a ref shows below a path, once, as files that Spark can be told of.

A ref is pinned first: what it shows is listed at a commit, so that a read never mixes two states. A
branch's staged view is read only where that is asked for (or on the branch of a job, which is its
own): its entries are listed as they are now, and what they point to never changes.

Spark passes over names that begin with a dot or an underscore, and so does this; `_a=1` is a
partition.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from lochan.client.job import is_job_branch
from lochan.client.lake import Lake
from lochan.client.reference import Reference
from lochan.errors import InvalidInput, NotFound
from lochan.model.uri import Uri
from lochan.shapes.objects import ObjectStats

_SUMMARIES: Final = ("_metadata", "_common_metadata")


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
    pinned = named
    if not staged and not is_job_branch(uri.ref):
        pinned = lake.repository(uri.repository).ref(named.get_commit().id)
    folder = uri.path.rstrip("/") + "/" if uri.path.strip("/") else ""
    files = list(_files(pinned, folder))
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
