# SPDX-License-Identifier: Apache-2.0
"""A pipeline's zip of Python files, unpacked on this machine.

    <temporary folder>/lochan-code-<user>/<sha256>/...      for all processes of the user

The zip is fetched once a process and checked by its SHA-256. A folder that another process has
unpacked is used if each of its files is as in the zip, for others clean temporary folders up as
they like; else it is unpacked anew, beside it. A folder whose parent is open to other users is not
trusted, and the process has one of its own. Files are read-only, so that code does not change
itself.
"""

import os
import shutil
import stat
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile, gettempdir, mkdtemp
from typing import IO, Final
from zipfile import BadZipFile, ZipFile

from lochan.errors import Corruption, Unavailable
from lochan.model.ids import StorageNamespace
from lochan.pipelines.places import Storages
from lochan.pipelines.work import Code

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MARK: Final = 0o444


def unpacked(code: Code, storages: Storages) -> Path:
    """Fetch, check and unpack. Raises Corruption, NotFound, Unavailable."""
    objects = storages(StorageNamespace(code.namespace)).objects
    with TemporaryFile() as file:
        running = sha256()
        with objects.get(code.address) as reading:
            for chunk in reading:
                running.update(chunk)
                file.write(chunk)
        if running.hexdigest() != code.sha256:
            raise Corruption("the code is not what was registered", file=code.address)
        return _unpacked(file, code)


def _unpacked(file: IO[bytes], code: Code) -> Path:
    try:
        with ZipFile(file) as bundle:
            _require_inside(bundle, code.address)
            shared = _parent() / code.sha256
            if not _is_same(shared, bundle):
                return _unpack(bundle, shared)
            return shared
    except BadZipFile as error:
        raise Corruption(f"the code is no zip: {error}", file=code.address) from error
    except OSError as error:
        raise Unavailable(f"the code cannot be unpacked: {error.strerror}") from error


def _parent() -> Path:
    """Give the folder that belongs to this user alone, or a fresh one."""
    parent = Path(gettempdir(), f"lochan-code-{os.getuid()}")
    parent.mkdir(mode=0o700, exist_ok=True)
    status = parent.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    if is_ours and not status.st_mode & _OTHERS:
        return parent
    return Path(mkdtemp(prefix="lochan-code-"))


def _unpack(bundle: ZipFile, shared: Path) -> Path:
    """Unpack beside the shared folder, and become it where there is none."""
    fresh = Path(mkdtemp(prefix=f"{shared.name[:16]}-", dir=shared.parent))
    bundle.extractall(fresh)
    for path in fresh.rglob("*"):
        if path.is_file():
            path.chmod(_MARK)
    try:
        fresh.rename(shared)
    except OSError:  # another process was first, or what lies there is damaged
        if not _is_same(shared, bundle):
            return fresh
        shutil.rmtree(fresh)
    return shared


def _is_same(folder: Path, bundle: ZipFile) -> bool:
    names = {name for name in bundle.namelist() if not name.endswith("/")}
    if not folder.is_dir():
        return False
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return found == names and all(
        (folder / name).read_bytes() == bundle.read(name) for name in names
    )


def _require_inside(bundle: ZipFile, address: str) -> None:
    for name in bundle.namelist():
        if name.startswith("/") or ".." in name.split("/"):
            raise Corruption(f"the code holds {name!r}, outside of its folder", file=address)
