# SPDX-License-Identifier: Apache-2.0
"""Plain files of this machine, read as they are: `file:///` and the path is the name.

Here lie objects that were imported and not put: nothing is ever written. Only files below folders
that were allowed, and below none that is denied, can be read or listed, after all symbolic links on
the way have been followed; whoever may import could else read any file that this process may, the
lake's own among them. Listings leave out symbolic links and what is no regular file. Names that are
not UTF-8 are refused, not left out.

    file:///?allow=/srv/raw:/srv/more    files of these folders, by their paths
    file:///?allow=/&deny=/srv/lake      all but these
    file:///                             nothing is allowed
"""

import os
import stat
from collections.abc import Iterator, Sequence
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import NoReturn

from lochan.environment import Environment
from lochan.errors import InvalidInput, NotFound, Refused
from lochan.objects.drivers.local.disk import info_of
from lochan.objects.drivers.local.failures import told
from lochan.objects.namespace import refuse_options, split_location
from lochan.objects.paging import Paging
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Body,
    Extent,
    ObjectInfo,
    Page,
    Precondition,
    Reading,
    check_address,
    resolve,
)

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK = 1 << 20
_ABSENT = (FileNotFoundError, NotADirectoryError)


class PlainFiles:
    """An `ObjectStore` that only reads; addresses are paths from `root`, without its slash."""

    def __init__(
        self, allowed: Sequence[Path], root: Path = Path("/"), denied: Sequence[Path] = ()
    ) -> None:
        """Read files below some folders, but not below others; addresses count from the root."""
        self._root = root
        self._denied = denied  # where they lead is asked each time: they may not be there yet
        self._allowed = [os.path.realpath(folder) for folder in allowed]

    @classmethod
    def open(cls, location: str, environment: Environment) -> "PlainFiles":  # noqa: ARG003 - a driver's arguments
        """Open `file:///?allow=/folder`; addresses are paths without the first slash."""
        namespace, options = split_location(location)
        refuse_options(namespace, options, frozenset({"allow", "deny"}))
        if namespace.path:
            message = f"{namespace} is read through file:///?allow=/{namespace.path}"
            raise InvalidInput(message, code="invalid-address")
        allowed, denied = (_folders(options.get(name, "")) for name in ("allow", "deny"))
        return cls(allowed, denied=denied)

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Read the file that has the name now."""
        path = self._path(address)
        with told(f"{address} cannot be read", *_ABSENT):
            try:
                opened = os.open(path, _READ)
            except _ABSENT as error:
                raise _absent(address) from error
        try:
            with told(f"{address} cannot be read"):
                info = _info(os.fstat(opened), address)
            found = resolve(extent, info.size, address)
        except BaseException:
            os.close(opened)
            raise
        file = FileIO(opened, closefd=True)
        return Reading(info, found, _pieces(file, *found), file.close, opened)

    def head(self, address: str) -> ObjectInfo:
        """Ask the file system."""
        path = self._path(address)
        with told(f"{address} cannot be read", *_ABSENT):
            try:
                return _info(Path(path).lstat(), address)
            except _ABSENT as error:
                raise _absent(address) from error

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """Walk the folders that can hold such addresses; each is read as a whole."""
        paging = Paging(prefix, delimiter, start_after, limit)
        shown = start_after
        folder = prefix[: prefix.rfind("/") + 1]
        shallow = delimiter == "/"
        for address, info in self._walk(folder, prefix, start_after, shallow=shallow):
            hidden_by = paging.hidden_by(address)
            if hidden_by and hidden_by <= shown:
                continue
            if paging.is_full():
                break
            if hidden_by:
                paging.add_prefix(hidden_by)
            else:
                paging.add(address, info)
            shown = hidden_by or address
        return paging.page()

    def put(
        self,
        address: str,
        body: Body,  # noqa: ARG002 - the contract's arguments
        *,
        size: int | None = None,  # noqa: ARG002
        when: Precondition = ALWAYS,  # noqa: ARG002
    ) -> ObjectInfo:
        """Refuse."""
        _read_only(address)

    def delete(self, *addresses: str) -> None:
        """Refuse."""
        _read_only(", ".join(addresses))

    def copy(self, source: str, destination: str) -> ObjectInfo:  # noqa: ARG002 - the contract's
        """Refuse."""
        _read_only(destination)

    def close(self) -> None:
        """Hold nothing."""

    def _path(self, address: str) -> str:
        check_address(address)
        if any(part in {"", ".", ".."} for part in address.split("/")) or "\0" in address:
            raise InvalidInput(
                f"{address!r} is no path of a file; leave out empty and dotted parts"
            )
        path = os.path.realpath(self._root / address)
        self._require_allowed(path, address)
        return path

    def _require_allowed(self, path: str, address: str) -> None:
        is_denied = any(Path(path).is_relative_to(os.path.realpath(one)) for one in self._denied)
        if is_denied or not any(Path(path).is_relative_to(folder) for folder in self._allowed):
            raise Refused(
                f"file {address!r} lies in no folder that may be read; allow its folder first",
                code="folder-not-allowed",
            )

    def _walk(
        self, folder: str, prefix: str, after: str, *, shallow: bool = False
    ) -> Iterator[tuple[str, ObjectInfo]]:
        """Give files with addresses that begin with `prefix` and come behind `after`, in order.

        Of a folder below the prefix the first file is enough for a shallow walk.
        """
        for name, status in self._entries(folder):
            address = folder + name
            if name.endswith("/"):
                wanted = address.startswith(prefix) or prefix.startswith(address)
                if wanted and (address > after or after.startswith(address)):
                    below = self._walk(address, prefix, after)
                    yield from islice(below, 1) if shallow else below
            elif address.startswith(prefix) and address > after:
                yield address, info_of(status)

    def _entries(self, folder: str) -> Sequence[tuple[str, os.stat_result]]:
        """Read a folder; folders have a slash behind their name, which is how they sort."""
        path = os.path.realpath(self._root / folder)
        self._require_allowed(path, folder)
        found = []
        with told(f"folder {folder!r} cannot be listed", *_ABSENT):
            try:
                for entry in os.scandir(path):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISDIR(status.st_mode):
                        found.append((f"{entry.name}/", status))
                    elif stat.S_ISREG(status.st_mode):
                        found.append((entry.name, status))
            except _ABSENT as error:
                raise NotFound(f"there is no folder {folder!r}", code="folder-not-found") from error
        for name, _ in found:
            check_address(folder + name)
        return sorted(found, key=lambda entry: entry[0])


def _folders(listed: str) -> list[Path]:
    return [Path(folder) for folder in filter(None, listed.split(os.pathsep))]


def _pieces(file: FileIO, start: int, stop: int) -> Iterator[bytes]:
    with told("a file cannot be read"):
        file.seek(start)
        while start < stop and (piece := file.read(min(_CHUNK, stop - start))):
            start += len(piece)
            yield piece


def _info(status: os.stat_result, address: str) -> ObjectInfo:
    if not stat.S_ISREG(status.st_mode):
        raise _absent(address)
    return info_of(status)


def _absent(address: str) -> NotFound:
    return NotFound(f"there is no file {address!r}")


def _read_only(address: str) -> NoReturn:
    message = f"{address} is a file outside of the lake, which is only read; put it into the lake"
    raise Refused(message, code="read-only-store")
