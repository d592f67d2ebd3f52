# SPDX-License-Identifier: Apache-2.0
"""What a datum's code reads: the files of each input, by name, where they lie.

    def make(img, out):
        img.path                  "2024/a.jpg"; of a folder, "2024/"
        img.captures              ("2024",) for the glob /(*)/*.jpg
        img.read_bytes()          its bytes; read_text() likewise
        img.open("2024/a.jpg")    a file to read, seekable; of a folder, by its path in there, too
        img.local()               a private copy below a folder that goes with the datum
        for file in img: ...      each object: path, size, read_bytes, read_text, open, local

Nothing is read before it is asked for. Keys are bytes, paths are text; bytes that are no UTF-8 come
as Python's surrogate escapes, and go back so.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final

from lochan.errors import InvalidInput, NotFound, Unavailable
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.objects.store import WHOLE, Extent, From, Reading
from lochan.operations.read_entry import read_placed
from lochan.pipelines.attempts.places import Storages, locate
from lochan.pipelines.model.datum import DatumFile, Member

_AT_ONCE: Final = 1 << 20  # bytes; a smaller object is read whole when it is opened
_NEVER: Final = frozenset({"", ".", ".."})


class DatumReading:
    """How one try of a datum reads: addresses opened by namespace, and a folder for copies."""

    def __init__(self, storages: Storages, namespaces: Mapping[str, str]) -> None:
        """Read from the namespaces of repositories."""
        self._storages = storages
        self._namespaces = namespaces
        self._folder: TemporaryDirectory[str] | None = None
        self.copied: set[Path] = set()

    def read(self, repository: str, entry: Entry, extent: Extent = WHOLE) -> Reading:
        """Read an entry of a repository."""
        return read_placed(partial(self._open, repository), entry, extent)

    @property
    def folder(self) -> Path:
        """Give the folder that goes with the try; it is made when first asked for."""
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="lochan-datum-", ignore_cleanup_errors=True)
        return Path(self._folder.name)

    def close(self) -> None:
        """Remove the folder."""
        if self._folder is not None:
            self._folder.cleanup()

    def _open(self, repository: str, address: str, extent: Extent) -> Reading:
        store, name = locate(self._storages, self._namespaces[repository], address)
        return store.get(name, extent)


class InputFile:
    """One object of an input."""

    __slots__ = ("_entry", "_file", "_member", "_reading")

    def __init__(self, reading: DatumReading, file: DatumFile, member: Member) -> None:
        """Stand for a member of a file; nothing is read yet."""
        self._reading = reading
        self._file = file
        self._member = member
        self._entry: Entry | None = None

    @property
    def path(self) -> str:
        """Give its path in the input."""
        return text_of(self._member.key)

    @property
    def key(self) -> bytes:
        """Give its path as it is stored."""
        return self._member.key

    @property
    def captures(self) -> tuple[str, ...]:
        """Give what the glob's parentheses matched."""
        return self._file.captures

    @property
    def entry(self) -> Entry:
        """Give what is known of it: checksum, content type, metadata, time."""
        if self._entry is None:
            self._entry = decode_entry(self._member.entry)
        return self._entry

    @property
    def size(self) -> int:
        """Count its bytes."""
        return self.entry.size

    def read_bytes(self) -> bytes:
        """Read it whole."""
        with self._reading.read(self._file.repository, self.entry) as reading:
            return reading.read()

    def read_text(self, encoding: str = "utf-8") -> str:
        """Read it whole, as text."""
        return self.read_bytes().decode(encoding)

    def open(self, mode: str = "rb", encoding: str = "utf-8") -> IO[Any]:
        """Open it to be read: rb gives bytes, r text."""
        if mode not in {"rb", "r", "rt"}:
            raise InvalidInput(f"an input is opened with rb or r, not {mode!r}")
        small = self.size <= _AT_ONCE
        raw = io.BytesIO(self.read_bytes()) if small else io.BufferedReader(_Stored(self))
        return raw if mode == "rb" else io.TextIOWrapper(raw, encoding=encoding)

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """Yield its bytes in order, from a place on."""
        extent: Extent = From(start) if start else WHOLE
        with self._reading.read(self._file.repository, self.entry, extent) as reading:
            yield from reading

    def local(self) -> Path:
        """Copy it to a file of the datum's own folder, once, and name that."""
        place = self._reading.folder / self._file.input / _relative(self._member.key)
        if place in self._reading.copied:
            return place
        try:
            if self._member.key.endswith(b"/"):
                place.mkdir(parents=True, exist_ok=True)  # an object that stands for a folder
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("xb") as file:
                    for chunk in self.chunks():
                        file.write(chunk)
        except (FileExistsError, NotADirectoryError) as error:
            message = f"{self.path!r} is a file, and a folder of others; a disk cannot hold both"
            raise InvalidInput(message, code="file-and-directory") from error
        except OSError as error:
            raise Unavailable(f"{self.path!r} cannot be copied: {error.strerror}") from error
        self._reading.copied.add(place)
        return place


class InputFiles:
    """What an input gives to a datum: nothing, one file or folder, or a group of them."""

    def __init__(self, name: str, files: Sequence[DatumFile], reading: DatumReading) -> None:
        """Stand for what the input matched."""
        self.name = name
        self._files = files
        self._reading = reading
        self._by_key: dict[bytes, InputFile] = {}  # filled when a path is first asked for

    @property
    def path(self) -> str:
        """Give the path that matched; a folder's ends with a slash."""
        return text_of(self._only().key)

    @property
    def paths(self) -> tuple[str, ...]:
        """Give the paths of all objects."""
        return tuple(text_of(member.key) for file in self._files for member in file.members)

    @property
    def matches(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Give each path that matched, with its captures; a group has several."""
        return tuple((text_of(file.key), file.captures) for file in self._files)

    @property
    def captures(self) -> tuple[str, ...]:
        """Give what the glob's parentheses matched; of a group, for its first match."""
        return self._files[0].captures if self._files else ()

    @property
    def size(self) -> int:
        """Count the bytes of all objects."""
        return sum(file.size for file in self)

    def open(self, path: str = "", mode: str = "rb", encoding: str = "utf-8") -> IO[Any]:
        """Open an object, the only one if no path is given."""
        return self.file(path).open(mode, encoding)

    def read_bytes(self, path: str = "") -> bytes:
        """Read an object whole, the only one if no path is given."""
        return self.file(path).read_bytes()

    def read_text(self, path: str = "", encoding: str = "utf-8") -> str:
        """Read an object whole, as text."""
        return self.file(path).read_text(encoding)

    def local(self) -> Path:
        """Copy all objects to the datum's own folder, and name the file or folder there.

        A match is named by its path below the folder of the input's name; a group by that folder.
        """
        folder = self._reading.folder / self.name
        folder.mkdir(exist_ok=True)
        for file in self:
            file.local()
        if len(self._files) != 1:
            return folder
        key = self._files[0].key.strip(b"/")
        return folder / _relative(key) if key else folder

    def file(self, path: str = "") -> InputFile:
        """Find an object by its path, or by its path in a folder that matched. Raises NotFound."""
        if not path:
            found = list(self)
            if len(found) == 1:
                return found[0]
            message = f"input {self.name!r} has {len(found)} objects here; say which by its path"
            raise InvalidInput(message, code="path-needed")
        key, exact = key_of(path), path.encode(errors="surrogateescape")
        self._by_key = self._by_key or {file.key: file for file in self}
        folders = [file.key.lstrip(b"/") for file in self._files if file.key.endswith(b"/")]
        for name in (exact, key, *(folder + key for folder in folders)):
            if name in self._by_key:
                return self._by_key[name]
        raise NotFound(f"input {self.name!r} has no object {path!r} in this datum")

    def __iter__(self) -> Iterator[InputFile]:
        for file in self._files:
            for member in file.members:
                yield InputFile(self._reading, file, member)

    def __len__(self) -> int:
        return sum(len(file.members) for file in self._files)

    def _only(self) -> DatumFile:
        if len(self._files) == 1:
            return self._files[0]
        message = f"input {self.name!r} matched {len(self._files)} paths here; use its matches"
        raise InvalidInput(message, code="path-needed")


class _Stored(io.RawIOBase):
    """A large object as a file: read on from a place, and elsewhere after a seek."""

    def __init__(self, file: InputFile) -> None:
        super().__init__()
        self._file = file
        self._place = 0
        self._chunks: Iterator[bytes] | None = None
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._file.size}
        place = starts[whence] + offset
        if place < 0:
            raise InvalidInput(f"there is no place {place} in {self._file.path!r}")
        if place != self._place:
            self._place, self._chunks, self._rest = place, None, memoryview(b"")
        return place

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - any writable buffer
        if self._place >= self._file.size:
            return 0
        if not self._rest:
            if self._chunks is None:
                self._chunks = self._file.chunks(self._place)
            self._rest = memoryview(next(self._chunks, b""))
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        self._place += count
        return count


def text_of(key: bytes) -> str:
    """Give a key as text."""
    return key.decode(errors="surrogateescape")


def key_of(path: str) -> bytes:
    """Give a path of `text_of` as a key; a slash in front of it stands for the root."""
    return path.removeprefix("/").encode(errors="surrogateescape")


def _relative(key: bytes) -> Path:
    """Read a key as a path below a folder. Raises InvalidInput where it can be none."""
    path = text_of(key)
    parts = path.removesuffix("/").split("/")
    if "\0" in path or any(part in _NEVER for part in parts):
        message = f"{path!r} can be no path of a file; read it by open()"
        raise InvalidInput(message, code="invalid-object-path")
    return Path(*parts)
