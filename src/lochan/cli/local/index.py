# SPDX-License-Identifier: Apache-2.0
"""What is remembered of a folder: `.lochan/index`, in MessagePack.

    version    1
    commit     the commit that `base` is of
    base       the objects of that commit below the prefix: key -> [size, checksum]
    seen       files whose content is known: path -> [size, mtime in ns, checksum]
    saved_ns   when it was written, by the clock that also stamps files

It only saves work: without it, objects are listed and files read. A file is known by size and time,
unless it was written so shortly before the index that a later change might have the same time.
"""

from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from lochan.cli.files import LocalFile
from lochan.cli.local.link import OWN_FOLDER, Link
from lochan.environment import Environment

INDEX_FILE: Final = "index"
_VERSION: Final = 1
_CLOCK_NS: Final = 20_000_000  # files are stamped by a clock that ticks every 4 to 10 ms


class Entry(NamedTuple):
    """An object of a commit."""

    size: int
    checksum: str


class Seen(NamedTuple):
    """A file whose content is that of a checksum, as long as size and time are these."""

    size: int
    mtime_ns: int
    checksum: str


class Index(msgspec.Struct, kw_only=True):
    """What is remembered of one folder."""

    version: int = _VERSION
    commit: str = ""
    base: dict[str, Entry] = {}
    seen: dict[str, Seen] = {}
    saved_ns: int = 0

    def known(self, file: LocalFile) -> str:
        """Give the checksum of a file that has not changed since; empty for any other."""
        found = self.seen.get(file.path)
        if found is None or (found.size, found.mtime_ns) != (file.size, file.mtime_ns):
            return ""
        return found.checksum if file.mtime_ns < self.saved_ns - _CLOCK_NS else ""


def load_index(root: Path) -> Index:
    """Read the index; one that is missing, damaged or of another version is empty."""
    try:
        found = msgspec.msgpack.decode((root / OWN_FOLDER / INDEX_FILE).read_bytes(), type=Index)
    except (FileNotFoundError, msgspec.DecodeError):
        return Index()
    return found if found.version == _VERSION else Index()


def save_index(link: Link, index: Index, environment: Environment) -> None:
    """Write the index; it is replaced as a whole."""
    folder = link.root / OWN_FOLDER
    folder.mkdir(exist_ok=True)
    fresh = folder / environment.new_id()
    fresh.touch()
    index.saved_ns = fresh.stat().st_mtime_ns
    fresh.write_bytes(msgspec.msgpack.encode(index))
    fresh.replace(folder / INDEX_FILE)
