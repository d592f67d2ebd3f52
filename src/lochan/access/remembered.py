# SPDX-License-Identifier: Apache-2.0
"""What a process has read of users and policies, for one second at most.

A value is as old as the moment before its reading began. `forget` is called after every write of
this process: what was read before that is neither kept nor, where the reading is still under way,
remembered when it ends. So a process sees its own writes at once, and those of others within
`SECONDS`.
"""

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

from lochan.environment import Environment

SECONDS: Final = 1.0

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Remembered(Generic[Key, Value]):
    """Values by key, bounded in age and number."""

    __slots__ = ("_entries", "_generation", "_limit", "_lock", "_monotonic")

    def __init__(self, environment: Environment, limit: int) -> None:
        """Remember `limit` values; beyond that the earliest goes."""
        self._monotonic = environment.monotonic
        self._lock = environment.lock()
        self._limit = limit
        self._generation = 0
        self._entries: dict[Key, tuple[Value, float]] = {}

    def get(self, key: Key, read: Callable[[Key], Value]) -> Value:
        """Give a value that is fresh enough, read if need be; what `read` raises goes through."""
        entry = self._entries.get(key)
        if entry is not None and self._monotonic() < entry[1]:
            return entry[0]
        generation, began = self._generation, self._monotonic()
        value = read(key)
        with self._lock:
            if generation == self._generation:
                self._entries.pop(key, None)
                if len(self._entries) >= self._limit:
                    del self._entries[next(iter(self._entries))]
                self._entries[key] = value, began + SECONDS
        return value

    def recall(self, key: Key) -> Value | None:
        """Give a value that is fresh enough, if there is one; nothing is read."""
        entry = self._entries.get(key)
        return entry[0] if entry is not None and self._monotonic() < entry[1] else None

    def forget(self) -> None:
        """Keep nothing that was read before now."""
        with self._lock:
            self._generation += 1
            self._entries.clear()
