# SPDX-License-Identifier: Apache-2.0
"""What a function is handed, as its author sees it: for annotations, and for tests of one's own.

The files behind it are in `input_files` and `output_files`; here is only what a function may rely
on, so that code which says pipelines needs nothing of the machinery that runs them.
"""

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import IO, Any, Protocol


class InputFile(Protocol):
    """One object of an input."""

    @property
    def path(self) -> str:
        """Give its path in the input."""

    @property
    def size(self) -> int:
        """Count its bytes."""

    def read_bytes(self) -> bytes:
        """Read it whole."""

    def read_text(self, encoding: str = "utf-8") -> str:
        """Read it whole, as text."""

    def open(self, mode: str = "rb", encoding: str = "utf-8") -> IO[Any]:
        """Open it to be read: rb gives bytes, r text."""

    def local(self) -> Path:
        """Copy it to a file of the datum's own folder, once, and name that."""


class InputFiles(Protocol):
    """What one input gives to a datum: a file, or all files of a folder."""

    @property
    def path(self) -> str:
        """Give the path of what the glob matched; a folder's ends with a slash."""

    @property
    def captures(self) -> tuple[str, ...]:
        """Give what the glob's parentheses matched."""

    def read_bytes(self, path: str = "") -> bytes:
        """Read a file whole; without a path, the only one."""

    def read_text(self, path: str = "", encoding: str = "utf-8") -> str:
        """Read a file whole, as text."""

    def open(self, path: str = "", mode: str = "rb", encoding: str = "utf-8") -> IO[Any]:
        """Open a file to be read."""

    def local(self) -> Path:
        """Copy all to the datum's own folder, and name where that is."""

    def __iter__(self) -> Iterator[InputFile]:
        """Give each object."""

    def __len__(self) -> int:
        """Count the objects."""


class Out(Protocol):
    """What one try of a datum writes."""

    def write(
        self,
        path: str | bytes,
        data: str | bytes | bytearray | memoryview | Iterable[bytes],
        *,
        content_type: str = ...,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Store a file."""

    def put(
        self,
        path: str | bytes,
        source: str | PathLike[str] | IO[bytes],
        *,
        content_type: str = ...,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Store a copy of a local file, or the rest of an open one."""

    def open(
        self,
        path: str | bytes,
        mode: str = "wb",
        *,
        encoding: str = "utf-8",
        content_type: str = ...,
        metadata: Mapping[str, str] | None = None,
    ) -> IO[Any]:
        """Open a file to be written, which is stored when it is closed: wb takes bytes, w text."""
