# SPDX-License-Identifier: Apache-2.0
"""An object that is read through fsspec's caches, by ranges of one content."""

from functools import partial
from typing import Any

from fsspec.spec import AbstractBufferedFile

from lochan.client.reader import ObjectReader
from lochan.fs.lent import lend
from lochan.fs.told import told_of_write


class LochanFile(AbstractBufferedFile):
    """An object opened with "rb"."""

    def __init__(self, fs: Any, path: str, reader: ObjectReader, **options: Any) -> None:  # noqa: ANN401 - fsspec's
        """Read what was described when the file was opened."""
        size = reader.stats.size_bytes or 0
        # Not a method: the cache would hold the file, and both would stay until Python collects
        # cycles, with all that was read ahead.
        self._fetch_range = partial(_fetch, path, reader, size)
        super().__init__(fs, path, mode="rb", size=size, **options)
        lend(self)


def _fetch(path: str, reader: ObjectReader, size: int, start: int, end: int) -> bytes:
    """Give the bytes of a range, for a cache."""
    stop = min(end, size)
    if stop <= start:
        return b""
    with told_of_write(path):
        return reader.fetch(start, stop)
