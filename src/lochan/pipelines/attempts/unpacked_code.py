# SPDX-License-Identifier: Apache-2.0
"""A pipeline's zip of Python files, unpacked on this machine.

    <temporary folder>/lochan-code-<user>/<sha256>/...      for all processes of the user

The zip is fetched once a process, and checked by its SHA-256 and within the bounds of `code`. A
folder that another process has unpacked is used if each of its files is as in the zip, for others
clean temporary folders up as they like; else it is unpacked anew, beside it. Where the parent is
open to other users the process has a folder of its own. Files are read-only, so that code does not
change itself.
"""

import os
import shutil
import stat
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

from lochan.errors import Corruption, InvalidInput, Unavailable
from lochan.model.ids import StorageNamespace
from lochan.pipelines.attempts.places import Storages
from lochan.pipelines.model.work import Code
from lochan.pipelines.specs.code import MOST_BYTES, Files, unpack_code

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_READ_ONLY: Final = 0o444
_MOST: Final = 2 * MOST_BYTES  # a zip has names, too


def unpacked(code: Code, storages: Storages) -> Path:
    """Fetch, check and unpack. Raises Corruption, InvalidInput, NotFound, Unavailable."""
    files = unpack_code(_fetched(code, storages))
    try:
        shared = _parent() / code.sha256
        return shared if _is_same(shared, files) else _unpack(files, shared)
    except OSError as error:
        raise Unavailable(f"the code cannot be unpacked: {error.strerror}") from error


def _fetched(code: Code, storages: Storages) -> bytes:
    objects = storages(StorageNamespace(code.namespace)).objects
    with objects.get(code.address) as reading:
        if reading.info.size > _MOST:
            raise InvalidInput(f"the code has more than {_MOST >> 20} MiB", code="invalid-code")
        data = reading.read()
    if sha256(data).hexdigest() != code.sha256:
        raise Corruption("the code is not what was registered", file=code.address)
    return data


def _parent() -> Path:
    """Give the folder that belongs to this user alone, or a fresh one."""
    parent = Path(gettempdir(), f"lochan-code-{os.getuid()}")
    parent.mkdir(mode=0o700, exist_ok=True)
    status = parent.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    if is_ours and not status.st_mode & _OTHERS:
        return parent
    return Path(mkdtemp(prefix="lochan-code-"))


def _unpack(files: Files, shared: Path) -> Path:
    """Unpack beside the shared folder, and become it where there is none."""
    fresh = Path(mkdtemp(prefix=f"{shared.name[:16]}-", dir=shared.parent))
    for path, data in files.items():
        place = fresh / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(_READ_ONLY)
    try:
        fresh.rename(shared)
    except OSError:  # another process was first, or what lies there is damaged
        if not _is_same(shared, files):
            return fresh
        shutil.rmtree(fresh)
    return shared


def _is_same(folder: Path, files: Files) -> bool:
    if not folder.is_dir():
        return False
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return found == files.keys() and all((folder / p).read_bytes() == d for p, d in files.items())
