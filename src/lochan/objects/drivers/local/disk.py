# SPDX-License-Identifier: Apache-2.0
"""Files that are written, synced, and only then seen.

A body goes into a file of the private folder, which carries a lock while its writer lives: whoever
can take the lock of such a file knows that its writer is dead, and may remove it. When the last
byte is written the file gets its time and is synced; then it is published under its name by link or
rename, and the folder that holds the name is synced. No order of crashes shows a part of a body.

After a sync has failed, the kernel may have dropped what it could not write and say so only once;
another sync would succeed and mean nothing. From then on this process refuses to write.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lochan.environment import Environment
from lochan.errors import Unavailable
from lochan.objects.drivers.local.failures import told
from lochan.objects.drivers.local.root import Root
from lochan.objects.store import Chunk, ObjectInfo

_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD_FILE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20
_NOT_STORED = "the object was not stored"


def info_of(status: os.stat_result) -> ObjectInfo:
    """Read size, time and version of an object from its file's status.

    The etag is made of inode, time and size. A put makes a new file with a time of its own, random
    in its last three digits, so that no two versions of an address share all three.
    """
    etag = f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"
    return ObjectInfo(status.st_size, etag, status.st_mtime_ns / 1e9)


class Incoming:
    """A body on its way to the disk, seen by nobody."""

    def __init__(self, folder: int, name: str, file: int) -> None:
        """Hold a locked, empty file of the private folder."""
        self.folder = folder
        self.name = name
        self._file = file

    def write(self, chunk: Chunk) -> None:
        """Append bytes. Raises Unavailable, for instance when the disk is full."""
        rest = memoryview(chunk)
        with told(_NOT_STORED):
            while rest:
                rest = rest[os.write(self._file, rest) :]

    def copy_from(self, source: int, size: int) -> None:
        """Append a whole file, in the kernel where it can."""
        position = 0
        with suppress(OSError, AttributeError):  # not everywhere; the plain way below goes on
            while position < size:
                count = os.copy_file_range(source, self._file, size - position, position)
                position += count
                if not count:
                    break
        with told(_NOT_STORED):
            while position < size and (chunk := os.pread(source, _CHUNK, position)):
                self.write(chunk)
                position += len(chunk)
        if position != size:
            raise Unavailable(f"the source of a copy gave {position} bytes of {size}")

    def stamp(self, nanoseconds: int) -> None:
        """Set the file's time."""
        with told(_NOT_STORED):
            os.utime(self._file, ns=(nanoseconds, nanoseconds))

    def fileno(self) -> int:
        """Give the open file."""
        return self._file


class Disk:
    """The private folder's files, and the sync that must not be repeated."""

    def __init__(self, root: Root, environment: Environment) -> None:
        """Keep incoming files in the root's private folder."""
        self._root = root
        self._environment = environment
        self._broken = ""

    def check(self) -> None:
        """Refuse to write after a sync has failed."""
        if self._broken:
            raise Unavailable(f"{self._broken}; restart after the disk has been looked at")

    def sync(self, file: int) -> None:
        """Make a file or folder durable. Raises Unavailable, and then for every later write."""
        try:
            _sync(file)
        except OSError as error:
            self._broken = f"the disk failed to sync ({error.strerror}); nothing more is written"
            raise Unavailable(self._broken, code="sync-failed") from error

    @contextmanager
    def incoming(self) -> Iterator[Incoming]:
        """Make a file that vanishes at the end of the block, unless it was published."""
        self.check()
        folder = self._root.incoming
        name, file = self._create(folder)
        try:
            yield Incoming(folder, name, file)
        finally:
            with suppress(OSError):  # a rename has taken it away; what stays is swept one day
                os.unlink(name, dir_fd=folder)
            os.close(file)

    def finish(self, incoming: Incoming) -> ObjectInfo:
        """Give an incoming file its time, and make its bytes durable."""
        microseconds = int(self._environment.now() * 1_000_000)
        random = int.from_bytes(self._environment.random_bytes(2)) % 1000
        incoming.stamp(microseconds * 1000 + random)
        self.sync(incoming.fileno())
        with told(_NOT_STORED):
            return info_of(os.fstat(incoming.fileno()))

    def sweep(self) -> int:
        """Remove what dead writers left; count it. Safe beside living writers."""
        removed = 0
        folder = self._root.incoming
        with told("what is left of incoming objects cannot be swept"), os.scandir(folder) as left:
            for entry in left:
                with suppress(FileNotFoundError):
                    file = os.open(entry.name, _OLD_FILE, dir_fd=folder)
                    try:
                        removed += _remove_if_dead(folder, entry.name, file)
                    finally:
                        os.close(file)
        return removed

    def _create(self, folder: int) -> tuple[str, int]:
        while True:
            name = self._environment.new_id()
            with told(_NOT_STORED):
                file = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
            if _is_kept(file):
                return name, file
            os.close(file)


def _is_kept(file: int) -> bool:
    """Lock a new file; False if a sweep came before the lock and took its name away."""
    try:
        with told(_NOT_STORED):
            fcntl.flock(file, fcntl.LOCK_EX)
            return os.fstat(file).st_nlink > 0
    except BaseException:
        os.close(file)
        raise


def _remove_if_dead(folder: int, name: str, file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.unlink(name, dir_fd=folder)
    return True


def _sync(file: int) -> None:
    """Sync to the medium; on macOS fsync stops at the drive's cache, and this call does not."""
    if hasattr(fcntl, "F_FULLFSYNC"):
        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    else:
        os.fsync(file)
