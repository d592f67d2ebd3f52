# SPDX-License-Identifier: Apache-2.0
"""A KV store in this process's memory: a dictionary a partition, and its keys in order beside it.

It keeps every promise but durability (K6): its records go with the object. A scan copies a page of
pairs at a time under the lock, so nothing is held while the caller works. Keys are inserted into a
sorted list, which moves memory but compares only log n times: a million keys are no trouble.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from typing import Self

from lochan.environment import Environment
from lochan.errors import InvalidInput, NotFound, PredicateFailed, Unavailable
from lochan.kv.store import (
    EXISTS,
    Pair,
    Place,
    Predicate,
    Present,
    Versioned,
    check_address,
    check_partition,
    check_predicate,
    check_record,
    check_start,
)

_PAGE_ROWS = 256


class _Partition:
    """One name space: its values by key, and its keys in byte order."""

    __slots__ = ("keys", "values")

    def __init__(self) -> None:
        self.keys: list[bytes] = []
        self.values: dict[bytes, bytes] = {}

    def set(self, key: bytes, value: bytes) -> None:
        if key not in self.values:
            insort(self.keys, key)
        self.values[key] = value

    def delete(self, key: bytes) -> None:
        if self.values.pop(key, None) is not None:
            del self.keys[bisect_left(self.keys, key)]


class MemoryStore:
    """A Store that lives and dies with its process."""

    def __init__(self, environment: Environment) -> None:
        """Start empty."""
        self._lock = environment.lock()
        self._partitions: dict[bytes, _Partition] = {}
        self._closed = False

    @classmethod
    def open(cls, url: str, environment: Environment) -> Self:
        """Make a fresh store for `memory://`; two calls share nothing."""
        if url != "memory://":
            raise InvalidInput(f"{url!r} is no memory store; the whole address is memory://")
        return cls(environment)

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record."""
        check_address(partition, key)
        with self._lock:
            value = self._current(partition, key)
        if value is None:
            raise NotFound(f"no record {key!r} in {partition!r}", partition=partition, key=key)
        return Versioned(value, Predicate(value))

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Store a record, whatever was there."""
        check_record(partition, key, value)
        with self._lock:
            self._require_open()
            self._partitions.setdefault(partition, _Partition()).set(key, value)

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        """Store a record if the stored one meets the predicate."""
        check_record(partition, key, value)
        check_predicate(predicate, may_be_absent=True)
        with self._lock:
            self._require(partition, key, predicate)
            self._partitions.setdefault(partition, _Partition()).set(key, value)

    def delete(self, partition: bytes, key: bytes) -> None:
        """Remove a record, if any."""
        check_address(partition, key)
        with self._lock:
            self._require_open()
            self._remove(partition, key)

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        """Remove a record if the stored one meets the predicate."""
        check_address(partition, key)
        check_predicate(predicate, may_be_absent=False)
        with self._lock:
            self._require(partition, key, predicate)
            self._remove(partition, key)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Give all pairs at or after `start`, in byte order, a page at a time."""
        check_start(partition, start)
        return self._pages(partition, start)

    def set_many(self, partition: bytes, records: Mapping[bytes, bytes]) -> None:
        """Store many records of one partition; here all at once."""
        self.set_then_get(partition, records)

    def set_then_get(
        self, partition: bytes, records: Mapping[bytes, bytes], *places: Place
    ) -> list[Versioned | None]:
        """Store records, then read from places; here all at once."""
        check_partition(partition)
        for key, value in records.items():
            check_record(partition, key, value)
        for place in places:
            check_address(*place)
        with self._lock:
            self._require_open()
            for key, value in records.items():
                self._partitions.setdefault(partition, _Partition()).set(key, value)
            found = [self._current(*place) for place in places]
        return [None if value is None else Versioned(value, Predicate(value)) for value in found]

    def set_if_all(
        self, partition: bytes, key: bytes, value: bytes, predicates: Mapping[Place, Present | None]
    ) -> None:
        """Store a record if the record at each place meets its predicate."""
        check_record(partition, key, value)
        for place, predicate in predicates.items():
            check_address(*place)
            check_predicate(predicate, may_be_absent=True)
        with self._lock:
            self._require_open()
            for place, predicate in predicates.items():
                self._require(*place, predicate)
            self._partitions.setdefault(partition, _Partition()).set(key, value)

    def drop_partition(self, partition: bytes) -> None:
        """Forget a whole partition."""
        check_partition(partition)
        with self._lock:
            self._require_open()
            self._partitions.pop(partition, None)

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._closed = True
            self._partitions = {}

    def _require_open(self) -> None:
        if self._closed:
            raise Unavailable("the memory store is closed", code="store-closed")

    def _current(self, partition: bytes, key: bytes) -> bytes | None:
        self._require_open()
        found = self._partitions.get(partition)
        return found.values.get(key) if found else None

    def _require(self, partition: bytes, key: bytes, predicate: Present | None) -> None:
        current = self._current(partition, key)
        met = current is not None if predicate is EXISTS else current == predicate
        if not met:
            message = f"record {key!r} in {partition!r} is not what was expected; read it again"
            raise PredicateFailed(message, partition=partition, key=key)

    def _remove(self, partition: bytes, key: bytes) -> None:
        found = self._partitions.get(partition)
        if found:
            found.delete(key)
            if not found.keys:
                del self._partitions[partition]

    def _page(self, partition: bytes, start: bytes) -> list[Pair]:
        with self._lock:
            self._require_open()
            found = self._partitions.get(partition)
            if not found:
                return []
            first = bisect_left(found.keys, start)
            return [(key, found.values[key]) for key in found.keys[first : first + _PAGE_ROWS]]

    def _pages(self, partition: bytes, start: bytes) -> Iterator[Pair]:
        while page := self._page(partition, start):
            yield from page
            start = page[-1][0] + b"\0"  # the smallest key after the last one given
