# SPDX-License-Identifier: Apache-2.0
"""`ObjectStore` on a folder of a local file system.

A put writes a file that nobody sees, syncs it, and publishes it: by link(2), which fails where a
name exists, for `IF_ABSENT`; else by rename(2) under a lock of the folder. The lock is flock(2) on
the folder itself, taken also by plain puts and deletes, so that between the look at the old version
and the rename no other thread or process changes it. Then the folder is synced, and only then is
the put acknowledged. File systems of a network are not supported: locks and syncs mean less there.

The etag names the version (inode, time, size; see disk): nothing is stored beside the file, so
there is nothing that could disagree with it after a crash, and files that others write have etags
too.
"""

import errno
import fcntl
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from lochan.environment import Environment
from lochan.errors import NotFound, Unavailable, UnknownOutcome
from lochan.objects.body import chunks
from lochan.objects.drivers.local.disk import Disk, Incoming, info_of
from lochan.objects.drivers.local.failures import told
from lochan.objects.drivers.local.folders import Folders, refuse_link
from lochan.objects.drivers.local.kept import KeptFolders, Opened
from lochan.objects.drivers.local.listing import Walk
from lochan.objects.drivers.local.names import Place
from lochan.objects.drivers.local.root import open_root
from lochan.objects.drivers.local.target import Target, find_info
from lochan.objects.joined import JoinedUploads
from lochan.objects.namespace import refuse_options, split_location
from lochan.objects.paging import Paging
from lochan.objects.preconditions import check_precondition
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Body,
    Extent,
    IfAbsent,
    ObjectInfo,
    Page,
    Precondition,
    Reading,
    check_address,
    resolve,
)

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20
_SMALL = 64 << 10  # read when it is opened: nothing is held, and there is nothing to close
_TRIES = 1000
# What file systems without hard links answer to link(2).
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}


class LocalObjects:
    """The objects below one root folder; any number of processes may open it."""

    def __init__(self, root: Path, environment: Environment) -> None:
        """Open a root, made if missing, and remove what crashed writers left."""
        self._root = open_root(root, environment)
        self._disk = Disk(self._root, environment)
        self._folders = Folders(self._root, self._disk)
        self._kept = KeptFolders(environment)
        self._disk.sweep()
        self.uploads = JoinedUploads(self, environment)

    @classmethod
    def open(cls, location: str, environment: Environment) -> "LocalObjects":
        """Open `local:///folder`."""
        namespace, options = split_location(location)
        refuse_options(namespace, options, frozenset())
        return cls(Path("/") / namespace.path, environment)

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Write, sync, publish, sync the folder."""
        place = self._place(address)
        check_precondition(when, self._find_info(place), address)  # spares writing what must fail
        with self._disk.incoming() as incoming:
            for chunk in chunks(body, size, address):
                incoming.write(chunk)
            info = self._disk.finish(incoming)
            self._publish(incoming, place, when, address)
        return info

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Read the file that has the name now; a later put gives the name to another file."""
        file, info = self._open_file(address)
        try:
            found = resolve(extent, info.size, address)
        except BaseException:
            file.close()
            raise
        if found[1] - found[0] > _SMALL:
            return Reading(info, found, _pieces(file, *found), file.close, file.number)
        with closing(file):
            pieces = list(_pieces(file, *found))
        return Reading(info, found, iter(pieces), _nothing)

    def head(self, address: str) -> ObjectInfo:
        """Ask the file system."""
        info = self._find_info(self._place(address))
        if info is None:
            raise NotFound(f"there is no object {address}")
        return info

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """Walk the folders that can hold such addresses; each is read as a whole."""
        paging = Paging(prefix, delimiter, start_after, limit)
        return Walk(self._folders, self._root.names, paging).page()

    def delete(self, *addresses: str) -> None:
        """Unlink files, folder by folder; sync each folder once; remove empty folders."""
        self._disk.check()
        places: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for address in addresses:
            place = self._place(address)
            places[place.folders].append(place.file)
        for folders, files in places.items():
            with suppress(FileNotFoundError, NotADirectoryError):
                self._delete_in(folders, files)
                self._folders.prune(folders)

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Copy the file inside the kernel, then publish it as a put does."""
        place = self._place(destination)
        file, found = self._open_file(source)
        with closing(file), self._disk.incoming() as incoming:
            incoming.copy_from(file.number, found.size)
            info = self._disk.finish(incoming)
            self._publish(incoming, place, ALWAYS, destination)
        return info

    def close(self) -> None:
        """Close the root."""
        self._kept.clear()
        self._root.close()

    def local_path(self, address: str) -> Path:
        """Name the file of an object."""
        place = self._place(address)
        return self._root.path.joinpath(*place.folders, place.file)

    def _place(self, address: str) -> Place:
        check_address(address)
        return self._root.names.place(address)

    def _publish(self, incoming: Incoming, place: Place, when: Precondition, address: str) -> None:
        for _ in range(_TRIES):
            with self._folders.made(place.folders, address) as folder:
                try:
                    with told(f"{address} was not stored", FileNotFoundError):
                        self._give_name(incoming, folder, Target(place.file, address, when))
                except FileNotFoundError:  # the folder was removed, being empty: make it again
                    continue
                self._sync_name(folder, address)
                return
        raise Unavailable(f"the folder of {address} vanishes as fast as it is made; try again")

    def _give_name(self, incoming: Incoming, folder: int, target: Target) -> None:
        if isinstance(target.when, IfAbsent) and _link(incoming, folder, target):
            return
        with _locked(folder):
            target.check(folder)
            source = incoming.folder
            os.rename(incoming.name, target.name, src_dir_fd=source, dst_dir_fd=folder)

    def _sync_name(self, folder: int, address: str) -> None:
        try:
            self._disk.sync(folder)
        except Unavailable as error:
            message = f"{address} may be stored or not, for the disk failed: {error}"
            raise UnknownOutcome(message) from error

    def _delete_in(self, folders: tuple[str, ...], files: Iterable[str]) -> None:
        with self._folders.entered(folders) as folder:
            with told("not everything was deleted"), _locked(folder):
                for file in files:
                    _unlink(folder, file)
            # Also when nothing was there: somebody may have unlinked it and not synced yet.
            self._sync_name(folder, "what was to be deleted")

    def _find_info(self, place: Place) -> ObjectInfo | None:
        try:
            with self._folders.entered(place.folders) as folder:
                return find_info(folder, place.file)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _open_file(self, address: str) -> tuple[Opened, ObjectInfo]:
        place = self._place(address)
        self._root.check_open()
        kept = self._kept.find(place.folders)
        if kept is not None:
            with suppress(FileNotFoundError, IsADirectoryError):
                return _open_plain(kept, place.file)
        try:
            folder = Opened(self._folders.opened(place.folders))
            file = _open_plain(folder, place.file)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise NotFound(f"there is no object {address}") from error
        self._kept.keep(place.folders, folder)
        return file


def _open_plain(folder: Opened, name: str) -> tuple[Opened, ObjectInfo]:
    """Open a file for reading; a link is refused, a folder is no object."""
    with told(f"{name} cannot be read", FileNotFoundError, IsADirectoryError):
        try:
            file = Opened(os.open(name, _READ, dir_fd=folder.number))
        except FileNotFoundError:
            raise
        except OSError:
            refuse_link(folder.number, name)
            raise
        status = os.fstat(file.number)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(name)
        return file, info_of(status)


def _link(incoming: Incoming, folder: int, target: Target) -> bool:
    """Publish where no name is. False if the file system has no hard links.

    Raises: PredicateFailed, InvalidInput, OSError.
    """
    while True:
        try:
            source = incoming.folder
            os.link(incoming.name, target.name, src_dir_fd=source, dst_dir_fd=folder)
        except FileExistsError:
            target.check(folder)  # raises, unless what stood there has gone
        except OSError as error:
            if error.errno in _NO_LINKS:
                return False
            raise
        else:
            return True


def _unlink(folder: int, name: str) -> None:
    """Remove a file; a folder or nothing is left as it is."""
    try:
        os.unlink(name, dir_fd=folder)
    except (FileNotFoundError, IsADirectoryError):
        return
    except OSError:  # POSIX lets EPERM stand for a folder
        if find_info(folder, name) is not None:
            raise


@contextmanager
def _locked(folder: int) -> Iterator[None]:
    """Keep other writers of this folder out: threads and processes, for each opens it by itself."""
    fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(folder, fcntl.LOCK_UN)


def _nothing() -> None:
    """Close what holds nothing."""


def _pieces(file: Opened, start: int, stop: int) -> Iterator[bytes]:
    while start < stop:
        with told("an object cannot be read"):
            piece = os.pread(file.number, min(_CHUNK, stop - start), start)
        if not piece:
            return  # somebody cut the file; Reading sees that bytes are missing
        start += len(piece)
        yield piece
