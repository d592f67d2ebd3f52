# SPDX-License-Identifier: Apache-2.0
"""What there is: listings, and what is known of a path.

Nothing is remembered: a branch changes under everybody's hands. Folders exist where objects lie
below them, and nowhere else.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from fsspec.spec import AbstractFileSystem

from lochan.client.lake import Lake
from lochan.client.reference import Reference
from lochan.errors import NotFound
from lochan.fs.place import Place, place_of
from lochan.fs.told import missing, told
from lochan.shapes.objects import ObjectStats

Info = dict[str, Any]


class SeenFiles(AbstractFileSystem):
    """The half of the filesystem that looks and does not touch."""

    lake: Lake

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:  # noqa: ANN401, FBT001, FBT002 - fsspec's signature
        """List a folder, or the one file at a path. Raises FileNotFoundError."""
        name = self._strip_protocol(path)
        place = place_of(name)
        with told(name):
            found = sorted(self._entries(place), key=lambda info: str(info["name"]))
        if not found and place.path:
            found = [self._file(place)]
        return found if detail else [info["name"] for info in found]

    def info(self, path: str, **_: Any) -> Info:  # noqa: ANN401 - fsspec's signature
        """Describe a file or folder. Raises FileNotFoundError."""
        name = self._strip_protocol(path)
        place = place_of(name)
        with told(name):
            if place.path:
                return self._file_or_folder(place)
            if place.ref:
                self._reference(place).get_commit()
            elif place.repository:
                self.lake.repository(place.repository).properties  # noqa: B018 - to see whether it is there
        return _folder(name)

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,  # noqa: FBT001, FBT002 - fsspec's signature
        detail: bool = False,  # noqa: FBT001, FBT002 - fsspec's signature
        **options: Any,  # noqa: ANN401 - fsspec's signature
    ) -> Any:  # noqa: ANN401 - a list or a dict
        """List all files below a path, by one listing; by folders where the depth is limited."""
        name = self._strip_protocol(path)
        place = place_of(name)
        if maxdepth is not None or not place.ref:
            return super().find(path, maxdepth, withdirs, detail, **options)
        found: dict[str, Info] = {}
        for info in self._below(place):
            found[info["name"]] = info
            if withdirs:
                found |= _folders_between(name, info["name"])
        if not found:
            found = self._at_most_one(place)
        names = sorted(found)
        return {one: found[one] for one in names} if detail else names

    def exists(self, path: str, **_: Any) -> bool:  # noqa: ANN401 - fsspec's signature
        """Say whether something is there; a lake that cannot be asked is an error."""
        try:
            self.info(path)
        except FileNotFoundError:
            return False
        return True

    def isdir(self, path: str) -> bool:
        """Say whether a folder is there."""
        return self._type(path) == "directory"

    def isfile(self, path: str) -> bool:
        """Say whether a file is there."""
        return self._type(path) == "file"

    def checksum(self, path: str) -> str:
        """Give the hash of a file's content."""
        return str(self.info(path).get("checksum", ""))

    def ukey(self, path: str) -> str:
        """Give what changes when a file's content does."""
        return self.checksum(path)

    def modified(self, path: str) -> datetime:
        """Say when a file was written."""
        return datetime.fromtimestamp(self.info(path).get("mtime", 0), UTC)

    def created(self, path: str) -> datetime:
        """Say when a file was written: each write makes a new object."""
        return self.modified(path)

    def sign(self, path: str, expiration: int = 100, **_: Any) -> str:  # noqa: ANN401 - fsspec's signature
        """Give a URL that reads a file without credentials, for as long as the server says."""
        del expiration  # the server's settings say it
        name = self._strip_protocol(path)
        place = place_of(name)
        with told(name):
            return self._reference(place).object(place.path).stat(presign=True).physical_address

    def _type(self, path: str) -> str:
        try:
            return str(self.info(path)["type"])
        except FileNotFoundError:
            return ""

    def _reference(self, place: Place) -> Reference:
        return self.lake.repository(place.repository).ref(place.ref)

    def _entries(self, place: Place) -> Iterator[Info]:
        if not place.repository:
            yield from (_folder(found.id) for found in self.lake.repositories())
        elif not place.ref:
            repository = self.lake.repository(place.repository)
            for ref in (*repository.branches(), *repository.tags()):
                yield _folder(f"{place.repository}/{ref.id}")
        else:
            for stats in self._reference(place).objects(place.prefix, delimiter="/"):
                if stats.path != place.prefix:  # an object that marks the folder itself
                    yield _info(place, stats)

    def _below(self, place: Place) -> Iterator[Info]:
        with told(place.named(place.path)):
            for stats in self._reference(place).objects(place.prefix):
                if not stats.path.endswith("/"):
                    yield _info(place, stats)

    def _at_most_one(self, place: Place) -> dict[str, Info]:
        try:
            info = self.info(place.named(place.path))
        except FileNotFoundError:
            return {}
        return {info["name"]: info} if info["type"] == "file" else {}

    def _file_or_folder(self, place: Place) -> Info:
        try:
            return _info(place, self._reference(place).object(place.path).stat())
        except NotFound as error:
            below = self._reference(place).objects(place.prefix, max_amount=1)
            if next(below, None) is None:
                raise missing(place.named(place.path)) from error
        return _folder(place.named(place.path))

    def _file(self, place: Place) -> Info:
        with told(place.named(place.path)):
            return _info(place, self._reference(place).object(place.path).stat())


def _folder(name: str) -> Info:
    return {"name": name, "size": 0, "type": "directory"}


def _info(place: Place, stats: ObjectStats) -> Info:
    if stats.path_type == "common_prefix":
        return _folder(place.named(stats.path.removesuffix("/")))
    return {
        "name": place.named(stats.path),
        "size": stats.size_bytes or 0,
        "type": "file",
        "checksum": stats.checksum,
        "mtime": stats.mtime,
        "content_type": stats.content_type or "",
        "metadata": stats.metadata or {},
    }


def _folders_between(root: str, name: str) -> dict[str, Info]:
    """Give the folders from the root down to a file, the root included."""
    found = {}
    folder = name.rpartition("/")[0]
    while len(folder) >= len(root):
        found[folder] = _folder(folder)
        folder = folder.rpartition("/")[0]
    return found
