# SPDX-License-Identifier: Apache-2.0
"""The folders between the root and an object: walked without following links, made durably.

Each step opens a folder relative to the one before it and refuses symbolic links, so no change to
the tree, however timed, leads out of the root. A folder's mode is 0700. Its sticky bit says that
the folder's own name is durable: whoever finds it unset syncs the folder above before using it, and
then sets it. So a crash cannot take away a folder in which an object has been acknowledged, and the
usual put need not sync the folders above its own.

Empty folders are removed when their last object goes. A put that meets such a removal finds that
its open folder takes no names any more, and begins again.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from lochan.errors import Corruption, InvalidInput, Unavailable
from lochan.objects.drivers.local.disk import Disk
from lochan.objects.drivers.local.failures import told
from lochan.objects.drivers.local.root import Root

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
Step = Callable[[int, str], int]  # an open folder and a name in it to the open folder of that name
_TRIES = 1000  # against folders that vanish; each loss means that another process has moved on


class Folders:
    """Opens, makes and removes folders below an open root."""

    def __init__(self, root: Root, disk: Disk) -> None:
        """Walk from this root."""
        self._root = root
        self._disk = disk

    @contextmanager
    def entered(self, folders: Sequence[str]) -> Iterator[int]:
        """Open a folder.

        Raises: FileNotFoundError, NotADirectoryError; Corruption where a link is in the way.
        """
        folder = self.opened(folders)
        try:
            yield folder
        finally:
            os.close(folder)

    def opened(self, folders: Sequence[str]) -> int:
        """Open a folder for a caller that closes it. Raises: as `entered`."""
        names = "/".join(folders)
        with told(f"folder {names} cannot be opened", FileNotFoundError, NotADirectoryError):
            return self._walk(folders, open_folder)

    @contextmanager
    def made(self, folders: Sequence[str], address: str) -> Iterator[int]:
        """Open a durable folder, making what is missing. Raises InvalidInput, Unavailable."""
        folder = self._make(folders, address)
        try:
            yield folder
        finally:
            os.close(folder)

    def prune(self, folders: Sequence[str]) -> None:
        """Remove a folder and those above it as far as they are empty."""
        for depth in range(len(folders), 0, -1):
            try:
                with self.entered(folders[: depth - 1]) as above:
                    os.rmdir(folders[depth - 1], dir_fd=above)
            except FileNotFoundError:
                continue  # somebody else removed it; those above may be left to us
            except (OSError, Unavailable):
                return  # not empty, as a rule; an empty folder that stays does no harm

    def _make(self, folders: Sequence[str], address: str) -> int:
        for _ in range(_TRIES):
            try:
                with told(f"no folder for {address}", FileNotFoundError, NotADirectoryError):
                    return self._walk(folders, self._open_durable)
            except FileNotFoundError:
                continue
            except NotADirectoryError as error:
                message = f"{address} lies below another object; in data/, _lakefs/ and _work/ an"
                raise InvalidInput(f"{message} object has nothing below it") from error
        raise Unavailable(f"the folders of {address} vanish as fast as they are made; try again")

    def _walk(self, folders: Sequence[str], step: Step) -> int:
        current = os.dup(self._root.folder)
        for name in folders:
            try:
                following = step(current, name)
            finally:
                os.close(current)
            current = following
        return current

    def _open_durable(self, above: int, name: str) -> int:
        try:
            folder = open_folder(above, name)
        except FileNotFoundError:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=above)
            folder = open_folder(above, name)
        try:
            if not os.fstat(folder).st_mode & stat.S_ISVTX:
                self._disk.sync(above)
                os.fchmod(folder, 0o1700)
        except BaseException:
            os.close(folder)
            raise
        return folder


def open_folder(above: int, name: str) -> int:
    """Open one folder in another. Raises FileNotFoundError, NotADirectoryError, Corruption."""
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        raise
    except OSError as error:
        refuse_link(above, name)
        raise error from None


def refuse_link(above: int, name: str) -> None:
    """Raise Corruption if a name in an open folder is a symbolic link; we never make one."""
    with suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=above, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            raise Corruption("a symbolic link stands in its place; remove it", file=name)
