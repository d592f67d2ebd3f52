# SPDX-License-Identifier: Apache-2.0
"""The default KV store: one SQLite file, durable, shared by the processes of one machine.

Writes of all threads go through one writer thread (`sqlite_writer`), which commits them in groups;
processes take turns (`sqlite_turn`). Conditional writes are single statements inside the
transaction, so their predicate is compared under the lock that the write holds. Reads never wait
for writers (`sqlite_reads`).

A store belongs to the process that opened it: after a fork the child must open its own. Files on
network file systems, files of other programs and files of a newer Lochan are refused.
"""

import os
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from lochan.environment import Environment
from lochan.errors import PredicateFailed, Refused
from lochan.kv.drivers import sqlite_file
from lochan.kv.drivers.sqlite_reads import SqliteReads
from lochan.kv.drivers.sqlite_turn import Turn
from lochan.kv.drivers.sqlite_writer import Row, Writer
from lochan.kv.store import (
    EXISTS,
    Place,
    Predicate,
    Present,
    Versioned,
    check_address,
    check_partition,
    check_predicate,
    check_record,
)

# A large removal is cut into transactions of this many rows, so that others get their turn.
_ROWS_AT_A_TIME = 2000

_SET_NEW = "INSERT INTO kv (partition, key, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_REPLACE_ANY = "UPDATE kv SET value = ? WHERE partition = ? AND key = ?"
_REPLACE = "UPDATE kv SET value = ? WHERE partition = ? AND key = ? AND value = ?"
_DELETE = "DELETE FROM kv WHERE partition = ? AND key = ?"
_DELETE_IF = "DELETE FROM kv WHERE partition = ? AND key = ? AND value = ?"
_DELETE_SOME = (
    "DELETE FROM kv WHERE partition = ?1 AND key IN"
    " (SELECT key FROM kv WHERE partition = ?1 ORDER BY key LIMIT ?2)"
)


class SqliteStore(SqliteReads):
    """A Store in one local file."""

    def __init__(self, path: Path, environment: Environment) -> None:
        """Open the file at `path`, making it where there is none."""
        sqlite_file.make_if_absent(path)
        self._path = path.absolute()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._closed = False
        super().__init__(self._path, self._require_serving)
        self._turn = Turn(path, environment, patience_s=sqlite_file.BUSY_S)
        try:
            self._connection = self._opened()
        except BaseException:
            self._turn.close()
            raise
        self._writer = Writer(self._connection, path, self._turn, environment)

    @classmethod
    def open(cls, url: str, environment: Environment) -> Self:
        """Open `sqlite:///absolute/path` or `sqlite://relative/path`."""
        return cls(sqlite_file.path_of(url), environment)

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Store a record, whatever was there."""
        self._set([(partition, key, value)])

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        """Store a record if the stored one meets the predicate."""
        check_record(partition, key, value)
        check_predicate(predicate, may_be_absent=True)
        if predicate is None:
            rows = self._write(_SET_NEW, (partition, key, value))
        elif predicate is EXISTS:
            rows = self._write(_REPLACE_ANY, (value, partition, key))
        else:
            rows = self._write(_REPLACE, (value, partition, key, predicate))
        _require_one(rows, partition, key)

    def delete(self, partition: bytes, key: bytes) -> None:
        """Remove a record, if any."""
        check_address(partition, key)
        self._write(_DELETE, (partition, key))

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        """Remove a record if the stored one meets the predicate."""
        check_address(partition, key)
        check_predicate(predicate, may_be_absent=False)
        if predicate is EXISTS:
            rows = self._write(_DELETE, (partition, key))
        else:
            rows = self._write(_DELETE_IF, (partition, key, predicate))
        _require_one(rows, partition, key)

    def set_many(self, partition: bytes, records: Mapping[bytes, bytes]) -> None:
        """Store many records of one partition, here in one transaction."""
        self._set([(partition, key, value) for key, value in records.items()])

    def set_then_get(
        self, partition: bytes, records: Mapping[bytes, bytes], *places: Place
    ) -> list[Versioned | None]:
        """Store records, then read from places inside the same transaction: no wait of its own."""
        for place in places:
            check_address(*place)
        rows = [(partition, key, value) for key, value in records.items()]
        found = self._set(rows, places)
        return [None if value is None else Versioned(value, Predicate(value)) for value in found]

    def set_if_all(
        self, partition: bytes, key: bytes, value: bytes, predicates: Mapping[Place, Present | None]
    ) -> None:
        """Store a record if the record at each place meets its predicate, in one transaction."""
        check_record(partition, key, value)
        for place, predicate in predicates.items():
            check_address(*place)
            check_predicate(predicate, may_be_absent=True)
        self._require_this_process()
        if not self._writer.set_if_all((partition, key, value), predicates):
            raise _not_as_expected(partition, key)

    def drop_partition(self, partition: bytes) -> None:
        """Remove a whole partition, some rows at a time."""
        check_partition(partition)
        while self._write(_DELETE_SOME, (partition, _ROWS_AT_A_TIME)) == _ROWS_AT_A_TIME:
            pass

    def close(self) -> None:
        """Finish writing and close the file."""
        self._require_this_process()
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._writer.close()
        self._end_reads()
        self._connection.close()
        self._turn.close()

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite_file.connect(self._path)
        try:
            with self._turn:
                sqlite_file.make_ours(connection, self._path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_this_process(self) -> None:
        if os.getpid() != self._process:
            message = f"{self._path} was opened by the parent process; open it again after a fork"
            raise Refused(message, code="opened-before-fork")

    def _require_serving(self) -> None:
        self._require_this_process()
        self._writer.require_serving()

    def _write(self, statement: str, values: tuple[bytes | int, ...]) -> int:
        self._require_this_process()
        return self._writer.submit(
            lambda connection: connection.execute(statement, values).rowcount
        )

    def _set(self, rows: list[Row], places: Sequence[Place] = ()) -> list[bytes | None]:
        for row in rows:
            check_record(*row)
        self._require_this_process()
        return self._writer.set(rows, places)


def _require_one(rows: int, partition: bytes, key: bytes) -> None:
    if rows != 1:
        raise _not_as_expected(partition, key)


def _not_as_expected(partition: bytes, key: bytes) -> PredicateFailed:
    message = f"record {key!r} in {partition!r} is not what was expected; read it again"
    return PredicateFailed(message, partition=partition, key=key)
