# SPDX-License-Identifier: Apache-2.0
"""Where exports go: a plain folder of this machine, or a prefix of an object store.

In a folder a key is a path, slash by slash. What cannot be one is refused before anything of it is
written: an empty segment, `.` and `..`, a NUL, and a key that others have for a folder. A file is
written beside its place and put there when it is whole. No link out of the folder is followed.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from lochan.environment import Environment
from lochan.errors import InvalidInput, NotFound, Unavailable
from lochan.objects.open import open_objects
from lochan.objects.store import Chunk, ObjectStore

_NEVER = frozenset({"", ".", ".."})


class ExportPlace(Protocol):
    """What an export asks of its destination."""

    def put(self, name: str, body: Iterable[Chunk], size: int) -> None:
        """Write a file, whole or not at all."""

    def delete(self, *names: str) -> None:
        """Remove files; what is absent stays absent."""

    def find(self, name: str) -> bytes | None:
        """Read a small file; None where there is none."""


def open_place(location: str, environment: Environment) -> ExportPlace:
    """Open a folder, or the store that a location with a scheme names. Raises InvalidInput."""
    if "://" in location and not location.startswith("file://"):
        return StorePlace(open_objects(location, environment))
    folder = Path(location.removeprefix("file://")).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be made: {error.strerror}") from error
    return FolderPlace(folder, environment)


class StorePlace:
    """A prefix of an object store."""

    def __init__(self, objects: ObjectStore) -> None:
        """Write into a store."""
        self._objects = objects

    def put(self, name: str, body: Iterable[Chunk], size: int) -> None:
        """Put an object."""
        self._objects.put(name, body, size=size)

    def delete(self, *names: str) -> None:
        """Delete objects."""
        self._objects.delete(*names)

    def find(self, name: str) -> bytes | None:
        """Read an object."""
        try:
            with self._objects.get(name) as reading:
                return reading.read()
        except NotFound:
            return None


class FolderPlace:
    """A plain folder."""

    def __init__(self, folder: Path, environment: Environment) -> None:
        """Write below a folder."""
        self._folder = folder.resolve()
        self._environment = environment

    def put(self, name: str, body: Iterable[Chunk], size: int) -> None:
        """Write a file beside its place, then move it there."""
        path = self._path(name)
        draft = path.with_name(f".{self._environment.new_id()}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._require_inside(path.parent, name)
            with draft.open("xb") as file:
                written = sum(file.write(piece) for piece in body)
            if written != size:
                raise Unavailable(f"{name!r} gave {written} bytes of {size}; export it again")
            draft.replace(path)
        except (IsADirectoryError, NotADirectoryError, FileExistsError) as error:
            message = f"{name!r} is a file and a folder; a folder of files cannot hold both"
            raise InvalidInput(message, code="file-and-directory") from error
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error.strerror}") from error
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def delete(self, *names: str) -> None:
        """Delete files, and folders that are empty then."""
        for name in names:
            path = self._path(name)
            if not path.parent.is_dir():
                continue
            self._require_inside(path.parent, name)
            path.unlink(missing_ok=True)
            with suppress(OSError):  # a folder that others still need
                for folder in path.parents:
                    if folder == self._folder:
                        break
                    folder.rmdir()

    def find(self, name: str) -> bytes | None:
        """Read a file."""
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            return None

    def _path(self, name: str) -> Path:
        parts = name.split("/")
        if "\0" in name or any(part in _NEVER for part in parts):
            message = f"{name!r} can be no path of a file; rename the object"
            raise InvalidInput(message, code="invalid-object-path")
        return self._folder.joinpath(*parts)

    def _require_inside(self, folder: Path, name: str) -> None:
        if not folder.resolve().is_relative_to(self._folder):
            message = f"{name!r} leads out of the folder, by a link; remove the link"
            raise InvalidInput(message, code="invalid-object-path")
