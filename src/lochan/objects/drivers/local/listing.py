# SPDX-License-Identifier: Apache-2.0
"""Walk files in the order of their addresses, reading only folders that can hold a wanted one.

The names of one folder sort like the addresses that they stand for (names, rule 4), and everything
below a folder begins with the folder's text. So a depth-first walk that sorts each folder by itself
yields addresses in byte order, and a folder is left out unread when its text shows that nothing in
it is wanted: outside the prefix, not greater than start_after, or hidden behind a common prefix
that has been shown.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import NamedTuple

from lochan.objects.drivers.local.failures import told
from lochan.objects.drivers.local.folders import Folders
from lochan.objects.drivers.local.names import KEYS, TREES, Item, Names
from lochan.objects.drivers.local.target import find_info
from lochan.objects.paging import Paging
from lochan.objects.store import ObjectInfo, Page


class _Found(NamedTuple):
    """A file or folder met by the walk; orders by the address, which is unique."""

    address: bytes
    is_folder: bool
    folders: tuple[str, ...]
    name: str


class Walk:
    """One walk for one page."""

    def __init__(self, folders: Folders, names: Names, paging: Paging) -> None:
        """Walk for what this page wants."""
        self._folders = folders
        self._names = names
        self._paging = paging
        self._prefix = paging.prefix.encode()
        self._after = paging.start_after.encode()
        self._hidden: bytes | None = None
        self._entered = ExitStack()
        self._entered_names: tuple[str, ...] | None = None
        self._folder = -1

    def page(self) -> Page:
        """Collect the page."""
        with self._entered:
            self._collect()
        return self._paging.page()

    def _collect(self) -> None:
        for found in self._files():
            try:
                address = found.address.decode()
            except UnicodeDecodeError:
                continue  # a stray file whose name only looks like one of ours
            hidden_by = self._paging.hidden_by(address)
            if hidden_by:
                self._hidden = hidden_by.encode()
                if hidden_by > self._paging.start_after:
                    if self._paging.is_full():
                        break
                    self._paging.add_prefix(hidden_by)
            elif info := self._find_info(found):
                if self._paging.is_full():
                    break
                self._paging.add(address, info)

    def _files(self) -> Iterator[_Found]:
        """Yield wanted files in byte order; each list of the stack is one folder, next one last."""
        stack = [self._root()]
        while stack:
            if not stack[-1]:
                stack.pop()
                continue
            found = stack[-1].pop()
            if not self._is_wanted(found.address, is_folder=found.is_folder):
                continue
            if found.is_folder:
                stack.append(self._scan((*found.folders, found.name), found.address))
            else:
                yield found

    def _root(self) -> list[_Found]:
        trees = [_Found(f"{name}/".encode(), True, (), name) for name in TREES]  # noqa: FBT003
        return sorted([*trees, *self._scan((KEYS,), b"")], reverse=True)

    def _scan(self, folders: tuple[str, ...], text: bytes) -> list[_Found]:
        in_tree = folders[0] in TREES
        found = []
        names = "/".join(folders)
        with (
            suppress(FileNotFoundError, NotADirectoryError),  # its last object went meanwhile
            self._folders.entered(folders) as folder,
            told(f"folder {names} cannot be listed"),
            os.scandir(folder) as entries,
        ):
            for entry in entries:
                item = self._read(entry, in_tree=in_tree)
                if item and self._is_wanted(text + item.text, is_folder=item.is_folder):
                    found.append(_Found(text + item.text, item.is_folder, folders, entry.name))
        found.sort(reverse=True)
        return found

    def _read(self, entry: "os.DirEntry[str]", *, in_tree: bool) -> Item | None:
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not entry.is_file(follow_symlinks=False):
            return None
        return self._names.read(entry.name, is_folder=is_folder, in_tree=in_tree)

    def _is_wanted(self, text: bytes, *, is_folder: bool) -> bool:
        if self._hidden is not None and text.startswith(self._hidden):
            return False
        if not is_folder:
            return text.startswith(self._prefix) and text > self._after
        in_prefix = text.startswith(self._prefix) or self._prefix.startswith(text)
        return in_prefix and (text > self._after or self._after.startswith(text))

    def _find_info(self, found: _Found) -> ObjectInfo | None:
        """Describe a file, through the folder that the file before it was in, if it is the same."""
        if self._entered_names != found.folders:
            self._entered.close()
            self._entered_names = None
            try:
                self._folder = self._entered.enter_context(self._folders.entered(found.folders))
            except (FileNotFoundError, NotADirectoryError):
                return None  # deleted while we walked
            self._entered_names = found.folders
        return find_info(self._folder, found.name)
