# SPDX-License-Identifier: Apache-2.0
"""The disk tier: copies of remote files in a folder, up to a number of bytes.

Processes may share the folder. A file appears by rename, whole, and never changes; a reader that
has mapped a file keeps it though it is evicted. Files are not flushed: what a power loss leaves
damaged is found by its checksums, dropped and fetched again. The time of last use is the file's
own.

A process looks at the whole folder whenever it has added a tenth of the bound: each further process
may push the folder by as much above it, for a while.
"""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lochan.environment import Environment
from lochan.errors import Unavailable
from lochan.objects.store import Chunk

_UNFINISHED = ".part"
_LOOKS = 10  # at the folder, for every capacity's worth of new copies


class CacheUnavailable(Unavailable):
    """The folder takes no copy: it is full, gone or damaged. The truth is elsewhere, and safe."""

    default_code = "cache-unavailable"


class DiskTier:
    """A bounded folder of immutable files, named by their ids."""

    def __init__(self, folder: Path, capacity_bytes: int, environment: Environment) -> None:
        """Use a folder, making it where it is absent; what it holds already counts."""
        self._folder = folder
        self._capacity = capacity_bytes
        self._environment = environment
        self._lock = environment.lock()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._size = sum(size for _, size, _ in self._files())
        self._unseen = 0  # bytes added since the last look at the folder

    def find(self, name: str) -> Path | None:
        """Give the copy of a file, marked as used now, or None."""
        path = self._folder / name
        try:
            os.utime(path)
        except FileNotFoundError:
            return None
        return path

    def put(self, name: str, body: Iterable[Chunk]) -> Path:
        """Keep a copy, and let go of the least used ones that no longer fit.

        Others may let go of this one at once: whoever wants to read it must be ready for that.
        Raises: CacheUnavailable where the folder takes no more; what the body's iterator raises.
        """
        path = self._folder / name
        try:
            size = self._write(path, body)
        except OSError as error:
            raise CacheUnavailable(f"no copy of {name} can be kept: {error}") from error
        with self._lock:
            self._size += size
            self._unseen += size
            if self._size > self._capacity or self._unseen > self._capacity // _LOOKS:
                self._evict(keep=path)
        return path

    def drop(self, name: str) -> None:
        """Forget a copy that turned out damaged."""
        (self._folder / name).unlink(missing_ok=True)

    def _write(self, path: Path, body: Iterable[Chunk]) -> int:
        unfinished = Path(f"{path}.{self._environment.new_id()}{_UNFINISHED}")
        try:
            with unfinished.open("xb") as file:
                size = sum(file.write(chunk) for chunk in body)
            with suppress(FileNotFoundError):  # evicted before it was finished
                unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        return size

    def _evict(self, keep: Path) -> None:
        # Other processes add and evict too, so the folder itself is asked, not our count.
        files = sorted(self._files())
        self._size = sum(size for _, size, _ in files)
        self._unseen = 0
        for _, size, path in files:
            if self._size <= self._capacity:
                break
            if path != keep:
                path.unlink(missing_ok=True)
                self._size -= size

    def _files(self) -> list[tuple[int, int, Path]]:
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # another process evicted it meanwhile
                    continue
                if stat.S_ISREG(status.st_mode):  # a mounted disk has a folder of its own in here
                    found.append((status.st_mtime_ns, status.st_size, Path(entry.path)))
        return found
