# SPDX-License-Identifier: Apache-2.0
"""A store that times every call on its way to another store.

What the inner store can do beyond the seven operations is passed on and timed under its own name,
whatever it is: capabilities are looked for on the object, so each is an attribute of it. NotFound
and PredicateFailed are answers; only what the store did not answer is a failure.

A scan is timed until its first row is there. The rows that follow are not: what the caller does
between two of them would be counted too, or every row would cost two looks at the clock.
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeVar

from lochan.environment import Environment
from lochan.errors import Unavailable
from lochan.kv.store import Pair, Present, Store, Versioned
from lochan.metrics.metrics import Metrics

R = TypeVar("R")
_OPERATIONS = ("get", "set", "set_if", "delete", "delete_if", "scan")


class Measured:
    """A Store that is another one, with its times taken."""

    def __init__(self, store: Store, metrics: Metrics, environment: Environment, kind: str) -> None:
        """Stand between a caller and `store`; `kind` names its driver."""
        self._store = store
        self._metrics = metrics
        self._clock = environment.monotonic
        self._kind = kind
        self._get = self._timed("get", store.get)
        self._set = self._timed("set", store.set)
        self._set_if = self._timed("set_if", store.set_if)
        self._delete = self._timed("delete", store.delete)
        self._delete_if = self._timed("delete_if", store.delete_if)
        self._scan = self._timed("scan", self._begun)
        for name in _capabilities(store):
            setattr(self, name, self._timed(name, getattr(store, name)))

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record."""
        return self._get(partition, key)

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Store a record."""
        self._set(partition, key, value)

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        """Store a record if the stored one meets the predicate."""
        self._set_if(partition, key, value, predicate)

    def delete(self, partition: bytes, key: bytes) -> None:
        """Remove a record."""
        self._delete(partition, key)

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        """Remove a record if the stored one meets the predicate."""
        self._delete_if(partition, key, predicate)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Give all pairs from `start` on."""
        return self._scan(partition, start)

    def close(self) -> None:
        """Close the inner store."""
        self._store.close()

    def _begun(self, partition: bytes, start: bytes) -> Iterator[Pair]:
        pairs = self._store.scan(partition, start)
        first = next(pairs, None)
        return iter(()) if first is None else chain((first,), pairs)

    def _timed(self, operation: str, work: Callable[..., R]) -> Callable[..., R]:
        clock = self._clock
        observe = self._metrics.kv_seconds.of(operation, self._kind).observe
        failed = self._metrics.kv_failures.of(operation, self._kind).add

        def timed(*arguments: Any, **named: Any) -> R:  # noqa: ANN401 - whatever the operation takes
            start = clock()
            try:
                return work(*arguments, **named)
            except Unavailable:
                failed()
                raise
            finally:
                observe(clock() - start)

        return timed


def _capabilities(store: Store) -> list[str]:
    known = {*_OPERATIONS, "close", "open"}  # a driver's class opens stores
    public = (name for name in dir(type(store)) if not name.startswith("_"))
    return [name for name in public if name not in known and callable(getattr(store, name))]
