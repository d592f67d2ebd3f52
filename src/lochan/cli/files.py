# SPDX-License-Identifier: Apache-2.0
"""Files of this machine: found below a folder, told apart by their content, and named by keys.

Symbolic links and whatever is no plain file are left out, so that nothing outside of a folder is
read or written. For the same reason a key becomes the path of a file only if its parts are names.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from lochan.errors import InvalidInput, Refused

_CHUNK: Final = 1 << 20


class LocalFile(NamedTuple):
    """A plain file: its path below the folder, with slashes, and what tells that it changed."""

    path: str
    size: int
    mtime_ns: int


def files_below(
    folder: Path, leave_out: Callable[[os.DirEntry[str]], bool] = lambda _: False
) -> Iterator[LocalFile]:
    """Give the plain files below a folder; a directory that is left out is not entered."""
    pending = [(str(folder), "")]
    while pending:
        at, prefix = pending.pop()
        with os.scandir(at) as entries:
            for entry in entries:
                if leave_out(entry):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, f"{prefix}{entry.name}/"))
                elif entry.is_file(follow_symlinks=False):
                    found = entry.stat(follow_symlinks=False)
                    path = _key(f"{prefix}{entry.name}")
                    yield LocalFile(path, found.st_size, found.st_mtime_ns)


def seen_at(folder: Path, path: str) -> LocalFile | None:
    """Give what is at a path below a folder now; None for nothing."""
    try:
        found = (folder / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return LocalFile(path, found.st_size, found.st_mtime_ns)


def checksum_of(file: Path) -> str:
    """Give the MD5 of a file: what lakes call an object's checksum."""
    found = hashlib.md5(usedforsecurity=False)
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def can_be_file(key: str) -> bool:
    """Say whether a key is the path of a file: names with one slash between them."""
    return "\0" not in key and all(part not in {"", ".", ".."} for part in key.split("/"))


def target_of(folder: Path, key: str) -> Path:
    """Give the file of a key below a folder. Raises Refused where it would lie outside."""
    if not can_be_file(key):
        raise Refused(f"no file can be called {key!r}; download it alone, under another name")
    target = folder / key
    if not target.parent.resolve().is_relative_to(folder.resolve()):
        raise Refused(f"{target.parent} leads out of {folder}; remove the symbolic link")
    return target


def _key(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        message = f"the name of {os.fsencode(path)!r} is not UTF-8; rename it"
        raise InvalidInput(message, code="invalid-name") from error
    return path
