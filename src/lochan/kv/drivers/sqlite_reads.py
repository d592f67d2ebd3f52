# SPDX-License-Identifier: Apache-2.0
"""The reading half of a SQLite store: connections of its own, which never wait for writers.

A scan reads a page, ends its read transaction, and only then gives rows to the caller. Reads at
once have one more connection, with no patience at all: a reader of a write-ahead log waits only
while somebody repairs it, and then these give up.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path

from lochan.errors import LochanError, NotFound
from lochan.kv.drivers import sqlite_file
from lochan.kv.drivers.sqlite_writer import GET
from lochan.kv.store import (
    Pair,
    Place,
    Predicate,
    Versioned,
    check_address,
    check_start,
)

# Pages of a scan grow, so that a look at the first row is cheap and a long scan is fast. Larger
# ones are no faster, and every row of one takes the interpreter's lock from other threads.
_FIRST_PAGE_ROWS = 32
_LARGEST_PAGE_ROWS = 512
_LARGEST_PAGE_BYTES = 4 << 20

_SCAN = "SELECT key, value FROM kv WHERE partition = ? AND key >= ? ORDER BY key LIMIT ?"


class SqliteReads:
    """Reads of one file."""

    def __init__(self, path: Path, require_usable: Callable[[], None]) -> None:
        """Read the file at `path` for as long as `require_usable` raises nothing."""
        self._file = path
        self._require_usable = require_usable
        self._pool = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._is_over = False
        self._near = threading.Lock()
        self._impatient: sqlite3.Connection | None = None

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record."""
        check_address(partition, key)
        rows = self._read(GET, (partition, key))
        if not rows:
            raise NotFound(f"no record {key!r} in {partition!r}", partition=partition, key=key)
        value = rows[0][0]
        return Versioned(value, Predicate(value))

    def get_at_once(self, *places: Place) -> list[Versioned | None]:
        """Read records by one statement, so in one read transaction, or give up."""
        for place in places:
            check_address(*place)
        self._require_usable()
        with self._near:
            connection = self._impatient
            if connection is None:
                connection = self._impatient = sqlite_file.connect(self._file, patience_s=0)
            try:
                found = connection.execute(_get_all(len(places)), tuple(chain(*places))).fetchone()
            except sqlite3.Error as error:
                self._impatient = None
                raise self._given_up(connection, error) from error
        return [None if value is None else Versioned(value, Predicate(value)) for value in found]

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Give all pairs at or after `start`, in byte order, a page at a time."""
        check_start(partition, start)
        self._require_usable()
        return self._pages(partition, start)

    def _end_reads(self) -> None:
        """Close what nobody reads from; the rest is closed when it is given back."""
        with self._pool:
            self._is_over = True
            idle, self._idle = self._idle, []
        with self._near:
            if self._impatient is not None:
                idle.append(self._impatient)
                self._impatient = None
        for connection in idle:
            connection.close()

    def _read(self, statement: str, values: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
        connection = self._borrow()
        try:
            rows = connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise self._given_up(connection, error) from error
        self._give_back(connection)
        return rows

    def _page(self, partition: bytes, start: bytes, rows: int) -> tuple[list[Pair], bool]:
        """Read the next rows, fewer when they are large, and say whether more may follow."""
        connection = self._borrow()
        page: list[Pair] = []
        size = 0
        try:
            cursor = connection.execute(_SCAN, (partition, start, rows))
            for pair in cursor:
                page.append(pair)
                size += len(pair[1])
                if size > _LARGEST_PAGE_BYTES:
                    break
            more = len(page) == rows or size > _LARGEST_PAGE_BYTES
            cursor.close()  # ends the read transaction
        except sqlite3.Error as error:
            raise self._given_up(connection, error) from error
        self._give_back(connection)
        return page, more

    def _pages(self, partition: bytes, start: bytes) -> Iterator[Pair]:
        rows, more = _FIRST_PAGE_ROWS, True
        while more:
            page, more = self._page(partition, start, rows)
            yield from page
            if not page:
                return
            start = page[-1][0] + b"\0"  # the smallest key after the last one given
            rows = min(4 * rows, _LARGEST_PAGE_ROWS)

    def _borrow(self) -> sqlite3.Connection:
        self._require_usable()
        with self._pool:
            if self._idle:
                return self._idle.pop()
        return sqlite_file.connect(self._file)

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool:
            if not self._is_over:
                self._idle.append(connection)
                return
        connection.close()

    def _given_up(self, connection: sqlite3.Connection, error: sqlite3.Error) -> LochanError:
        connection.close()
        return sqlite_file.read_error(error, self._file)


@lru_cache(16)
def _get_all(count: int) -> str:
    """Write the statement that gives so many values, or NULL, in one row."""
    return "SELECT " + ", ".join([f"({GET})"] * count)
