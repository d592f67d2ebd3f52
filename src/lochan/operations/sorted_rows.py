# SPDX-License-Identifier: Apache-2.0
"""Sort any number of rows by key in bounded memory.

Rows are gathered until they fill the memory, sorted, and written to a file without a name that
vanishes with the process; at the end the files are merged. A batch whose keys all come behind those
of the last file is appended to it, so that rows that come in order need one file, and a few need
none.

    row     key size, identity size, data size : 3 x uint32, little-endian
            key, identity, data
"""

import heapq
import struct
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import BinaryIO, Self

from lochan.errors import Internal, Unavailable
from lochan.kernel.records import Record

MEMORY_BYTES = 64 << 20
_ROW_BYTES = 300  # what a row costs in memory besides its bytes
_SIZES = struct.Struct("<III")


class SortedRows:
    """Takes rows in any order, then gives them in key order; equal keys in the order they came."""

    def __init__(self, memory_bytes: int = MEMORY_BYTES) -> None:
        """Hold so many bytes of rows in memory."""
        self._memory = memory_bytes
        self._rows: list[Record] = []
        self._held = 0
        self._files: list[BinaryIO] = []
        self._last_key = b""  # of the last file
        self._open = ExitStack()

    @property
    def files(self) -> int:
        """How many files were needed."""
        return len(self._files)

    def add(self, row: Record) -> None:
        """Take a row."""
        self._rows.append(row)
        self._held += len(row.key) + len(row.identity) + len(row.value) + _ROW_BYTES
        if self._held >= self._memory:
            self._write()

    def __iter__(self) -> Iterator[Record]:
        """Give all rows in order; once."""
        self._sort()
        return heapq.merge(*map(_read, self._files), self._rows, key=lambda row: row.key)

    def _sort(self) -> None:
        self._rows.sort(key=lambda row: row.key)

    def _write(self) -> None:
        self._sort()
        try:
            if not self._files or self._rows[0].key < self._last_key:
                file = tempfile.TemporaryFile()  # noqa: SIM115 - the stack closes it
                self._files.append(self._open.enter_context(file))
            for row in self._rows:
                sizes = _SIZES.pack(len(row.key), len(row.identity), len(row.value))
                self._files[-1].write(b"".join((sizes, *row)))
        except OSError as error:
            raise Unavailable(f"rows cannot be sorted on disk: {error.strerror}") from error
        self._last_key = self._rows[-1].key
        self._rows, self._held = [], 0

    def close(self) -> None:
        """Free memory and files. Idempotent."""
        self._rows = []
        self._files = []
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _read(file: BinaryIO) -> Iterator[Record]:
    file.seek(0)
    while sizes := file.read(_SIZES.size):
        lengths = _SIZES.unpack(sizes)
        data = file.read(sum(lengths))
        if len(data) != sum(lengths):
            raise Internal("a temporary file of sorted rows ended in the middle of a row")
        middle = lengths[0] + lengths[1]
        yield Record(data[: lengths[0]], data[lengths[0] : middle], data[middle:])
