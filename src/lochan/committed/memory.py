# SPDX-License-Identifier: Apache-2.0
"""The memory tier: what was used last, up to a number of bytes. Nothing in it ever goes stale."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from lochan.environment import Environment

Value = TypeVar("Value")


class MemoryTier(Generic[Value]):
    """Immutable values by name. Two threads that miss at once both load; either result serves."""

    def __init__(
        self, capacity_bytes: int, weigh: Callable[[Value], int], environment: Environment
    ) -> None:
        """Keep values while their weights stay within the capacity, the least used going first."""
        self._capacity = capacity_bytes
        self._weigh = weigh
        self._lock = environment.lock()
        self._kept: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self.size_bytes = 0

    def get(self, name: str, load: Callable[[str], Value]) -> Value:
        """Give the value called `name`, loading and keeping it where it is not here."""
        found = self.find(name)
        if found is None:
            found = load(name)
            self.keep(name, found)
        return found

    def find(self, name: str) -> Value | None:
        """Give the value called `name` if it is here."""
        with self._lock:
            found = self._kept.get(name)
            if found is None:
                return None
            self._kept.move_to_end(name)
            return found[0]

    def keep(self, name: str, value: Value) -> None:
        """Take in a value, and let go of what no longer fits."""
        weight = self._weigh(value)
        with self._lock:
            if name in self._kept or weight > self._capacity:
                return
            self._kept[name] = (value, weight)
            self.size_bytes += weight
            while self.size_bytes > self._capacity:
                _, (_, gone) = self._kept.popitem(last=False)
                self.size_bytes -= gone
