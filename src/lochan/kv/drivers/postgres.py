# SPDX-License-Identifier: Apache-2.0
"""A KV store in one table of PostgreSQL, shared by many servers.

Every operation is one statement in a transaction of its own, so a conditional write is atomic by
the row lock that it takes, and no lock outlives a call. bytea sorts by bytes, as scans must.
`set_many` sends arrays; a scan asks page by page for the keys after the last one it gave.

    postgres://user@host/database?schema=lochan&table=kv&connections=16&timeout_s=20

What a lost connection means is said in `postgres_call`; where the table comes from, in
`postgres_schema`.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Self

from psycopg import sql

from lochan.environment import Environment
from lochan.errors import NotFound, PredicateFailed, Refused, Unavailable, UnknownOutcome
from lochan.kv.drivers.postgres_call import Calls, Values
from lochan.kv.drivers.postgres_schema import Place, place_of
from lochan.kv.store import (
    EXISTS,
    Pair,
    Predicate,
    Present,
    Versioned,
    check_address,
    check_partition,
    check_predicate,
    check_record,
    check_start,
)

# Pages of a scan grow, so that a look at the first row is cheap and a long scan is fast; they
# shrink again where rows are large. A page keeps a processor of the server and this process's
# interpreter from others, so the largest is a small part of a long scan.
_FIRST_PAGE_ROWS = 32
_LARGEST_PAGE_ROWS = 512
_LARGEST_PAGE_BYTES = 4 << 20
# set_many and drop_partition are cut into statements of at most this size.
_ROWS_AT_A_TIME = 2000
_BYTES_AT_A_TIME = 8 << 20

_STATEMENTS = {
    "get": "SELECT value FROM {} WHERE partition_key = %b AND key = %b",
    "scan": (
        "SELECT key, value FROM {} WHERE partition_key = %b AND key >= %b ORDER BY key LIMIT %b"
    ),
    "set": (
        "INSERT INTO {} (partition_key, key, value) VALUES (%b, %b, %b)"
        " ON CONFLICT (partition_key, key) DO UPDATE SET value = excluded.value"
    ),
    "set_many": (
        "INSERT INTO {} (partition_key, key, value)"
        " SELECT %b, k, v FROM unnest(%b::bytea[], %b::bytea[]) AS records (k, v)"
        " ON CONFLICT (partition_key, key) DO UPDATE SET value = excluded.value"
    ),
    "set_new": (
        "INSERT INTO {} (partition_key, key, value) VALUES (%b, %b, %b)"
        " ON CONFLICT (partition_key, key) DO NOTHING"
    ),
    "replace_any": "UPDATE {} SET value = %b WHERE partition_key = %b AND key = %b",
    "replace": "UPDATE {} SET value = %b WHERE partition_key = %b AND key = %b AND value = %b",
    "delete": "DELETE FROM {} WHERE partition_key = %b AND key = %b",
    "delete_if": "DELETE FROM {} WHERE partition_key = %b AND key = %b AND value = %b",
    "delete_some": (
        "DELETE FROM {0} WHERE partition_key = %b AND key IN"
        " (SELECT key FROM {0} WHERE partition_key = %b ORDER BY key LIMIT %b)"
    ),
}


class PostgresStore:
    """A Store in one table of a PostgreSQL database."""

    def __init__(self, place: Place) -> None:
        """Connect, and make the table where there is none."""
        self._process = os.getpid()
        self._statements = {
            name: sql.SQL(words).format(place.name).as_bytes()
            for name, words in _STATEMENTS.items()
        }
        self._calls = Calls(place)

    @classmethod
    def open(cls, url: str, _environment: Environment) -> Self:
        """Open `postgres://...`; the server has its own clock and randomness."""
        return cls(place_of(url))

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record."""
        check_address(partition, key)
        rows = self._read("get", (partition, key))
        if not rows:
            raise NotFound(f"no record {key!r} in {partition!r}", partition=partition, key=key)
        value = rows[0][0]
        return Versioned(value, Predicate(value))

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Store a record, whatever was there."""
        check_record(partition, key, value)
        self._write("set", (partition, key, value))

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        """Store a record if the stored one meets the predicate."""
        check_record(partition, key, value)
        check_predicate(predicate, may_be_absent=True)
        if predicate is None:
            rows = self._write("set_new", (partition, key, value))
        elif predicate is EXISTS:
            rows = self._write("replace_any", (value, partition, key))
        else:
            rows = self._write("replace", (value, partition, key, predicate))
        _require_one(rows, partition, key)

    def delete(self, partition: bytes, key: bytes) -> None:
        """Remove a record, if any."""
        check_address(partition, key)
        self._write("delete", (partition, key))

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        """Remove a record if the stored one meets the predicate."""
        check_address(partition, key)
        check_predicate(predicate, may_be_absent=False)
        if predicate is EXISTS:
            rows = self._write("delete", (partition, key))
        else:
            rows = self._write("delete_if", (partition, key, predicate))
        _require_one(rows, partition, key)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Give all pairs at or after `start`, in byte order, a page at a time."""
        check_start(partition, start)
        return self._pages(partition, start)

    def set_many(self, partition: bytes, records: Mapping[bytes, bytes]) -> None:
        """Store many records of one partition, some thousands a statement."""
        check_partition(partition)
        for key, value in records.items():
            check_record(partition, key, value)
        # Sorted, so that two callers with common keys lock them in the same order.
        written = 0
        for keys, values in _portions(sorted(records.items())):
            try:
                written += self._write("set_many", (partition, keys, values))
            except UnknownOutcome:
                raise
            except Unavailable as error:
                if not written:
                    raise
                message = f"{written} of {len(records)} records were stored; set them again"
                raise UnknownOutcome(message, partition=partition, stored=written) from error

    def drop_partition(self, partition: bytes) -> None:
        """Remove a whole partition, some rows at a time."""
        check_partition(partition)
        values = (partition, partition, _ROWS_AT_A_TIME)
        while self._write("delete_some", values) == _ROWS_AT_A_TIME:
            pass

    def close(self) -> None:
        """Close all connections."""
        self._require_this_process()
        self._calls.close()

    def _require_this_process(self) -> None:
        if os.getpid() != self._process:
            message = "this PostgreSQL store was opened by the parent process; open it after a fork"
            raise Refused(message, code="opened-before-fork")

    def _read(self, name: str, values: Values) -> list[tuple[bytes, ...]]:
        self._require_this_process()
        return self._calls.read(self._statements[name], values)

    def _write(self, name: str, values: Values) -> int:
        self._require_this_process()
        return self._calls.write(self._statements[name], values)

    def _pages(self, partition: bytes, start: bytes) -> Iterator[Pair]:
        rows = _FIRST_PAGE_ROWS
        while page := self._read("scan", (partition, start, rows)):
            size = 1
            for key, value in page:
                size += len(value)
                yield key, value
            if len(page) < rows:
                return
            start = page[-1][0] + b"\0"  # the smallest key after the last one given
            fitting = rows * _LARGEST_PAGE_BYTES // size
            rows = max(1, min(4 * rows, fitting, _LARGEST_PAGE_ROWS))


def _portions(records: list[Pair]) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Cut records into the columns of statements of bounded size."""
    keys: list[bytes] = []
    values: list[bytes] = []
    size = 0
    for key, value in records:
        keys.append(key)
        values.append(value)
        size += len(key) + len(value)
        if len(keys) == _ROWS_AT_A_TIME or size >= _BYTES_AT_A_TIME:
            yield keys, values
            keys, values, size = [], [], 0
    if keys:
        yield keys, values


def _require_one(rows: int, partition: bytes, key: bytes) -> None:
    if rows != 1:
        message = f"record {key!r} in {partition!r} is not what was expected; read it again"
        raise PredicateFailed(message, partition=partition, key=key)
