# SPDX-License-Identifier: Apache-2.0
"""Folders that were opened within the last second, for reading in them.

A get then opens one file instead of walking from the root. The walk has refused links on the way;
an open folder is itself, whatever takes its name. One that was removed since holds no file, so what
is not found in a kept folder is looked for by another walk.
"""

import os
from collections.abc import Sequence
from typing import Final

from lochan.environment import Environment
from lochan.errors import Unavailable

KEPT_FOR_S: Final = 1.0
MOST_KEPT: Final = 8  # of one root; a process may have many roots, and not so many open files


class Opened:
    """A file or folder that is open until it is closed, or nobody holds it any more."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        """Take over an open file by its number."""
        self._number: int | None = number

    @property
    def number(self) -> int:
        """The file's number. Raises Unavailable after close: it may be another file's by then."""
        if self._number is None:
            raise Unavailable("the object has been closed; read it again")
        return self._number

    def close(self) -> None:
        """Close it. Idempotent."""
        number, self._number = self._number, None
        if number is not None:
            os.close(number)

    def __del__(self) -> None:
        """Close what nobody did."""
        self.close()


class KeptFolders:
    """A few open folders by their names from the root."""

    def __init__(self, environment: Environment) -> None:
        """Keep none yet."""
        self._monotonic = environment.monotonic
        self._kept: dict[Sequence[str], tuple[Opened, float]] = {}

    def find(self, folders: Sequence[str]) -> Opened | None:
        """Give a folder that was opened lately. It stays open while the caller holds it."""
        found = self._kept.get(folders)
        return found[0] if found is not None and self._monotonic() < found[1] else None

    def keep(self, folders: Sequence[str], folder: Opened) -> None:
        """Keep a folder that was opened now."""
        if len(self._kept) >= MOST_KEPT and folders not in self._kept:
            self._kept.clear()
        self._kept[folders] = folder, self._monotonic() + KEPT_FOR_S

    def clear(self) -> None:
        """Keep nothing any more."""
        self._kept.clear()
