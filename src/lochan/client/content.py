# SPDX-License-Identifier: Apache-2.0
"""What is uploaded: bytes, text, a file by its path, an open file, or chunks as they are made.

A text is the content itself, in UTF-8; the path of a file is an `os.PathLike`, such as pathlib's.
Chunks are read as they are sent. What can be read twice can be sent again after a refusal.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from lochan.errors import InvalidInput

Uploadable = bytes | bytearray | memoryview | str | os.PathLike[str] | IO[bytes] | Iterable[bytes]
Progress = Callable[[int, int | None], object]
"""Told of bytes: how many have gone, and how many there are where that is known."""

CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes to be sent."""

    read: Callable[[], Iterable[bytes]]  # from the beginning, each time
    size: int | None
    is_repeatable: bool

    def chunks(self, progress: Progress | None = None) -> Iterator[bytes]:
        """Give the bytes from the beginning, and tell of them when the next are asked for."""
        done = 0
        for chunk in self.read():
            yield chunk
            done += len(chunk)
            if progress is not None:
                progress(done, self.size)


def content_of(data: Uploadable) -> Content:
    """Take what somebody wants to upload. Raises InvalidInput for what has no bytes."""
    if isinstance(data, str):
        try:
            data = data.encode()
        except UnicodeEncodeError as error:
            message = f"character {error.start} of the text is not UTF-8: give its bytes instead"
            raise InvalidInput(message, code="not-utf-8") from error
    if isinstance(data, bytes | bytearray | memoryview):
        view = memoryview(data).cast("B")
        return Content(lambda: _slices(view), len(view), is_repeatable=True)
    if isinstance(data, os.PathLike):
        path = Path(data)
        return Content(lambda: _file_chunks(path), path.stat().st_size, is_repeatable=True)
    if hasattr(data, "read"):
        return _open_file(cast("IO[bytes]", data))  # whoever can be read from is a file
    if isinstance(data, Iterable):
        once = data
        return Content(lambda: once, None, is_repeatable=False)
    raise InvalidInput(f"{type(data).__name__} has no bytes; give bytes, a Path or an open file")


def _open_file(file: IO[bytes]) -> Content:
    if hasattr(file, "encoding"):  # only text files have one
        raise InvalidInput("the file is open in text mode; open it with 'rb'")
    if not file.seekable():
        return Content(lambda: _read(file), None, is_repeatable=False)
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)

    def read() -> Iterator[bytes]:
        file.seek(start)
        return _read(file)

    return Content(read, size, is_repeatable=True)


def _slices(view: memoryview) -> Iterator[bytes]:
    for start in range(0, len(view), CHUNK):
        yield bytes(view[start : start + CHUNK])


def _file_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from _read(file)


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk
