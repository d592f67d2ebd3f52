# SPDX-License-Identifier: Apache-2.0
"""Copies, renames and deletions. Within a repository none of them touches bytes."""

from collections import defaultdict
from typing import Any

from lochan.client.branch import Branch
from lochan.client.writable_object import WritableObject
from lochan.errors import NotFound
from lochan.fs.place import Place, place_of
from lochan.fs.seen import SeenFiles
from lochan.fs.told import missing, told_of_write


class MovedFiles(SeenFiles):
    """What changes the filesystem without bytes going in or out."""

    def mkdir(self, path: str, create_parents: bool = True, **_: Any) -> None:  # noqa: ANN401, FBT001, FBT002 - fsspec's signature
        """Do nothing: a folder is there when something lies in it."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:  # noqa: FBT001, FBT002 - fsspec's signature
        """Do nothing: a folder is there when something lies in it."""

    def rmdir(self, path: str) -> None:
        """Do nothing: a folder goes with the last of its files."""

    def touch(self, path: str, truncate: bool = True, **_: Any) -> None:  # noqa: ANN401, FBT001, FBT002 - fsspec's signature
        """Make an empty file, or empty a file."""
        if truncate or not self.exists(path):
            with told_of_write(path):
                self._object(self._strip_protocol(path)).upload(b"")

    def cp_file(self, path1: str, path2: str, **_: Any) -> None:  # noqa: ANN401 - fsspec's signature
        """Copy a file; a folder is no more than its files."""
        source, target = place_of(path1), place_of(path2)
        with told_of_write(path1):
            try:
                self._copy(source, self._object(path2), target)
            except NotFound:
                if not self.isdir(path1):
                    raise

    def mv(
        self,
        path1: str,
        path2: str,
        recursive: bool = False,  # noqa: FBT001, FBT002 - fsspec's signature
        maxdepth: int | None = None,
        **options: Any,  # noqa: ANN401 - fsspec's signature
    ) -> None:
        """Move a file, or with `recursive` a folder: by metadata alone on one branch."""
        plain = isinstance(path1, str) and isinstance(path2, str) and maxdepth is None
        if not plain or not self._rename(path1, path2, recursive=recursive):
            super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **options)

    def rm_file(self, path: str) -> None:
        """Delete a file. Raises FileNotFoundError."""
        name = self._strip_protocol(path)
        if not self.isfile(name):
            raise missing(name)
        with told_of_write(name):
            self._object(name).delete()

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:  # noqa: ANN401, FBT001, FBT002 - fsspec's signature
        """Delete files, and with `recursive` all that lies in folders, some hundred at a time."""
        branches: dict[tuple[str, str], list[str]] = defaultdict(list)
        for name in self.expand_path(path, recursive=recursive, maxdepth=maxdepth):
            place = place_of(name)
            if place.path:
                branches[place.repository, place.ref].append(place.path)
            elif not recursive:
                raise missing(name)
        for (repository, ref), paths in branches.items():
            if not recursive:
                self._require_files(repository, ref, paths)
            with told_of_write(f"{repository}/{ref}"):
                self._branch(Place(repository, ref)).delete_objects(paths)

    def _require_files(self, repository: str, ref: str, paths: list[str]) -> None:
        for path in paths:
            self.info(Place(repository, ref).named(path))

    def _rename(self, path1: str, path2: str, *, recursive: bool) -> bool:
        """Rename on one branch, and say whether that could be done."""
        one, other = self._strip_protocol(path1), self._strip_protocol(path2)
        source, target = place_of(one), place_of(other)
        same = (source.repository, source.ref) == (target.repository, target.ref)
        if not same or not source.path or "*" in path1 or one == other:
            return False
        found = self.info(one)
        into = path2.endswith("/") or not target.path or self.isdir(other)
        if into and not path1.endswith("/"):
            other = f"{other}/{one.rpartition('/')[2]}"
            target = place_of(other)
        is_folder = found["type"] == "directory"
        if is_folder and (not recursive or other.startswith(f"{one}/") or not target.path):
            return False
        slash = "/" if is_folder else ""
        with told_of_write(one):
            self._branch(source).rename(source.path + slash, target.path + slash, overwrite=True)
        return True

    def _copy(self, source: Place, to: WritableObject, target: Place) -> None:
        if source.repository == target.repository:
            to.copy_from(source.path, source.ref)
            return
        origin = self._reference(source).object(source.path)
        stats = origin.stat()
        with origin.open("rb") as file:
            to.upload(file, content_type=stats.content_type or "", metadata=stats.metadata or {})

    def _branch(self, place: Place) -> Branch:
        return self.lake.repository(place.repository).branch(place.ref)

    def _object(self, name: str) -> WritableObject:
        place = place_of(name)
        if not place.path:
            raise missing(name)
        return self._branch(place).object(place.path)
