# SPDX-License-Identifier: Apache-2.0
"""The root folder: made durably, and marked with how its names are written.

    <root>/.lochan/layout      {"version": 1, "folds_case": false}, written by the first opener
    <root>/.lochan/incoming/   bodies being written

`folds_case` says whether the file system took `a` and `A` for the same name when the root was made.
It is kept, so that a lake copied to another file system is still read by the names that it has.
"""

import os
from pathlib import Path

import msgspec

from lochan.environment import Environment
from lochan.errors import Corruption, Refused, Unavailable
from lochan.objects.drivers.local.names import PRIVATE, Names

VERSION = 1
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Layout(msgspec.Struct, frozen=True, kw_only=True):
    """What the layout file says."""

    version: int
    folds_case: bool


class Root:
    """An open root: its path, its folder and the private one for incoming bodies."""

    def __init__(self, path: Path, names: Names) -> None:
        """Open what `open_root` has made."""
        self.path = path
        self.names = names
        self._folder = os.open(path, _FOLDER)
        self._incoming = os.open(f"{PRIVATE}/incoming", _FOLDER, dir_fd=self._folder)
        self._is_open = True

    @property
    def folder(self) -> int:
        """The open root folder. Raises Unavailable after close."""
        self.check_open()
        return self._folder

    @property
    def incoming(self) -> int:
        """The open folder of incoming bodies. Raises Unavailable after close."""
        self.check_open()
        return self._incoming

    def close(self) -> None:
        """Close both folders. Idempotent."""
        if self._is_open:
            self._is_open = False
            os.close(self._incoming)
            os.close(self._folder)

    def check_open(self) -> None:
        """Refuse to work after close. Raises Unavailable."""
        # A closed folder's number may have become another file's; it must never be used.
        if not self._is_open:
            raise Unavailable(f"the object store at {self.path} has been closed; open it again")


def open_root(path: Path, environment: Environment) -> Root:
    """Open a root folder, made if it is missing.

    Raises: Unavailable when the folder cannot be used, Refused when a newer Lochan wrote it.
    """
    try:
        _make(path / PRIVATE / "incoming")
        for folder in (path.parent, path, path / PRIVATE):
            _sync(folder)  # another opener may have made them a moment ago, and not synced yet
        layout = path / PRIVATE / "layout"
        if not layout.exists():
            _write_layout(layout, environment)
        found = msgspec.json.decode(layout.read_bytes(), type=Layout)
        if found.version > VERSION:
            raise Refused(f"{path} has layout {found.version}, which needs a newer Lochan")
        return Root(path, Names(folds_case=found.folds_case))
    except msgspec.DecodeError as error:
        raise Corruption(str(error), file=f"{path}/{PRIVATE}/layout") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot hold objects: {error.strerror}") from error


def _make(folder: Path) -> None:
    """Make a folder and those above it, each durable before the next."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
        _sync(folder.parent)


def _write_layout(layout: Path, environment: Environment) -> None:
    """Write the layout file; openers at the same moment find and write the same."""
    draft = layout.with_name(f"{environment.new_id()}-layout")
    file = os.open(draft, _NEW_FILE, 0o600)
    try:
        folds_case = draft.with_name(draft.name.upper()).exists()
        content = Layout(version=VERSION, folds_case=folds_case)
        os.write(file, msgspec.json.encode(content) + b"\n")
        os.fsync(file)
        draft.replace(layout)
    finally:
        os.close(file)
    _sync(layout.parent)


def _sync(folder: Path) -> None:
    file = os.open(folder, _FOLDER)
    try:
        os.fsync(file)
    finally:
        os.close(file)
