# SPDX-License-Identifier: Apache-2.0
"""A KV store whose every call is a switch point.

A scan takes a step a page, of as many rows as asked for: with one row a page every mixture of old
and new that K3 allows can be seen. Bulk capabilities of the inner store stay hidden, so that each
key has its own place to fail.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice

from lochan.errors import PredicateFailed
from lochan.kv.store import Pair, Present, Store, Versioned
from lochan.testing.simulation.access import Mode, Span
from lochan.testing.simulation.calls import Calls

PAGE_ROWS = 256


class SimulatedStore:
    """A Store on its way to another, a step a call."""

    def __init__(self, store: Store, calls: Calls, page_rows: int = PAGE_ROWS) -> None:
        """Stand between processes and `store`."""
        self._store = store
        self._calls = calls
        self._thing = calls.turns.thing("kv")
        self._footprints = calls.turns.footprints
        self._page_rows = page_rows

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record in one step."""

        def work() -> Versioned:
            self._touch(partition, key, Mode.READ)
            return self._store.get(partition, key)

        return self._calls.read("get", _text(partition), _text(key), work)

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Store a record in one step."""
        self._write("set", partition, key, lambda: self._store.set(partition, key, value))

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        """Store a record, if it is as expected, in one step."""
        self._write(
            "set_if", partition, key, lambda: self._store.set_if(partition, key, value, predicate)
        )

    def delete(self, partition: bytes, key: bytes) -> None:
        """Remove a record in one step."""
        self._write("delete", partition, key, lambda: self._store.delete(partition, key))

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        """Remove a record, if it is as expected, in one step."""
        self._write(
            "delete_if", partition, key, lambda: self._store.delete_if(partition, key, predicate)
        )

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Give all pairs from `start` on, a page a step."""
        while True:
            page = self._page(partition, start)
            yield from page
            if len(page) < self._page_rows:
                return
            start = page[-1][0] + b"\0"

    def close(self) -> None:
        """Close the inner store."""
        self._store.close()

    def _page(self, partition: bytes, start: bytes) -> list[Pair]:
        def work() -> list[Pair]:
            page = list(islice(self._store.scan(partition, start), self._page_rows))
            # Behind the last row of a full page others may write what they want.
            last = page[-1][0] if len(page) == self._page_rows else None
            self._touch(partition, Span(start, last), Mode.READ)
            return page

        return self._calls.read("scan", _text(partition), _text(start), work)

    def _write(
        self, operation: str, partition: bytes, key: bytes, apply: Callable[[], None]
    ) -> None:
        def work() -> None:
            try:
                apply()
            except PredicateFailed:
                self._touch(partition, key, Mode.READ)  # a refused write has only looked
                raise
            self._touch(partition, key, Mode.WRITE)

        self._calls.write(operation, _text(partition), _text(key), work)

    def _touch(self, partition: bytes, key: bytes | Span, mode: Mode) -> None:
        if self._footprints:
            self._calls.turns.touch((self._thing, partition), key, mode)


@lru_cache(maxsize=10_000)
def _text(name: bytes) -> str:
    return name.decode(errors="backslashreplace")
