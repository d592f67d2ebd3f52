# SPDX-License-Identifier: Apache-2.0
"""An object that is read through fsspec's caches, by ranges of one content."""

from typing import Any

from fsspec.spec import AbstractBufferedFile

from lochan.client.reader import ObjectReader
from lochan.fs.told import told_of_write


class LochanFile(AbstractBufferedFile):
    """An object opened with "rb"."""

    def __init__(self, fs: Any, path: str, reader: ObjectReader, **options: Any) -> None:  # noqa: ANN401 - fsspec's
        """Read what was described when the file was opened."""
        self._reader = reader
        super().__init__(fs, path, mode="rb", size=reader.stats.size_bytes or 0, **options)

    def _fetch_range(self, start: int, end: int) -> bytes:
        """Give the bytes of a range, for a cache."""
        stop = min(end, self.size)
        if stop <= start:
            return b""
        with told_of_write(self.path):
            return self._reader.fetch(start, stop)
