# SPDX-License-Identifier: Apache-2.0
"""One number, or one spread of times, that threads add to.

`numbers` is what is published and summed over processes: the value alone, or the counts of a
spread's buckets, each of its own bucket only, and then the sum of all that was observed.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

Lock = AbstractContextManager[object]


class Series(Protocol):
    """What a family has for each set of labels."""

    def numbers(self) -> list[float]:
        """Give what it stands at."""


class Value:
    """A number: a counter that only grows, or a gauge that also falls."""

    __slots__ = ("_lock", "_value")

    def __init__(self, lock: Lock) -> None:
        """Begin with nothing."""
        self._lock = lock
        self._value = 0.0

    def add(self, amount: float = 1.0) -> None:
        """Add to it; to a gauge, also less than nothing."""
        with self._lock:
            self._value += amount

    def numbers(self) -> list[float]:
        """Give the number."""
        return [self._value]


class Watched:
    """A number that somebody else keeps, and that is looked at when it is asked for."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], float]) -> None:
        """Look at it by calling `read`, which is cheap and never fails."""
        self._read = read

    def numbers(self) -> list[float]:
        """Give the number as it is now."""
        return [float(self._read())]


class Spread:
    """How often times fell into each of a row of buckets."""

    __slots__ = ("_bounds", "_counts", "_lock", "_sum")

    def __init__(self, lock: Lock, bounds: Sequence[float]) -> None:
        """Begin with nothing; `bounds` are the upper ends of all buckets but the last."""
        self._lock = lock
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one time."""
        bucket = bisect_left(self._bounds, seconds)
        with self._lock:
            self._counts[bucket] += 1
            self._sum += seconds

    def numbers(self) -> list[float]:
        """Give the counts and the sum, which belong together."""
        with self._lock:
            return [*self._counts, self._sum]
