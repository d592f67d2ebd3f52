# SPDX-License-Identifier: Apache-2.0
"""Typed records under one partition and prefix.

A table joins a place in a store with two functions, record to bytes and back. Names are bytes and
follow the prefix without change, so that byte order of names is byte order of keys. The functions
must be canonical (K8): equal records give equal bytes, since predicates compare bytes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from lochan.environment import Environment
from lochan.kv.read import find, scan_prefix
from lochan.kv.store import Place, Predicate, Present, Store
from lochan.kv.update import update

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """A record as read, and the predicate that stays true while it is the stored one."""

    record: T
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Table(Generic[T]):
    """The records of one kind: `prefix` + name in `partition`."""

    store: Store
    partition: bytes
    prefix: bytes
    encode: Callable[[T], bytes]
    decode: Callable[[bytes], T]

    def get(self, name: bytes) -> Stored[T]:
        """Read a record. Raises NotFound."""
        value, predicate = self.store.get(self.partition, self.prefix + name)
        return Stored(self.decode(value), predicate)

    def find(self, name: bytes) -> Stored[T] | None:
        """Read a record, or None where there is none."""
        found = find(self.store, self.partition, self.prefix + name)
        return Stored(self.decode(found.value), found.predicate) if found else None

    def set(self, name: bytes, record: T) -> None:
        """Store a record, whatever was there."""
        self.store.set(self.partition, self.prefix + name, self.encode(record))

    def set_if(self, name: bytes, record: T, predicate: Present | None) -> None:
        """Store a record if the stored one meets the predicate. Raises PredicateFailed."""
        self.store.set_if(self.partition, self.prefix + name, self.encode(record), predicate)

    def place(self, name: bytes) -> Place:
        """Say where a record lies."""
        return self.partition, self.prefix + name

    def delete(self, name: bytes) -> None:
        """Remove a record, if any."""
        self.store.delete(self.partition, self.prefix + name)

    def delete_if(self, name: bytes, predicate: Present) -> None:
        """Remove a record if the stored one meets the predicate. Raises PredicateFailed."""
        self.store.delete_if(self.partition, self.prefix + name, predicate)

    def scan(self, after: bytes = b"") -> Iterator[tuple[bytes, T]]:
        """Give (name, record) of all names greater than `after`, in byte order."""
        start = self.prefix + after if after else b""
        for key, value in scan_prefix(self.store, self.partition, self.prefix, start):
            yield key.removeprefix(self.prefix), self.decode(value)

    def update(
        self,
        name: bytes,
        change: Callable[[T | None], T | None],
        environment: Environment,
        *,
        landed: Callable[[T | None], bool | None] = lambda _: None,
    ) -> T | None:
        """Replace a record by what a pure function makes of it; see `lochan.kv.update`."""

        def record_of(value: bytes | None) -> T | None:
            return None if value is None else self.decode(value)

        def changed(value: bytes | None) -> bytes | None:
            record = change(record_of(value))
            return None if record is None else self.encode(record)

        return record_of(
            update(
                self.store,
                self.partition,
                self.prefix + name,
                changed,
                environment,
                landed=lambda value: landed(record_of(value)),
            )
        )
