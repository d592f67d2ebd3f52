# SPDX-License-Identifier: Apache-2.0
"""Series that differ in their labels, of which there is a bounded number.

A label names a kind of thing, such as an operation or a status, never a key, a repository or a
user. Should somebody get that wrong, or a client invent methods, the series beyond the cap are one,
all of whose labels are "other".
"""

from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from lochan.environment import Environment
from lochan.metrics.series import Lock, Series, Spread, Value, Watched

S = TypeVar("S", bound=Series)
Kind = Literal["counter", "gauge", "histogram"]

MAX_SERIES = 2000
OTHER = "other"


class Family(Generic[S]):
    """One metric."""

    def __init__(
        self,
        kind: Kind,
        name: str,
        meaning: str,
        labels: tuple[str, ...],
        make: Callable[[Lock], S],
        environment: Environment,
        *,
        bounds: tuple[float, ...] = (),
    ) -> None:
        """Describe a metric; `make` begins a series of it."""
        self.kind = kind
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self.bounds = bounds
        self.is_largest = False  # over processes the largest number counts, not their sum
        self._make = make
        self._environment = environment
        self._lock = environment.lock()
        self._series: dict[tuple[str | int, ...], S] = {}
        self._watched: dict[tuple[str | int, ...], Watched] = {}

    def of(self, *values: str | int) -> S:
        """Give the series of these label values, in the order of the labels."""
        found = self._series.get(values)
        return found if found is not None else self._begin(values)

    def watch(self, read: Callable[[], float], *values: str | int) -> None:
        """Take the number of these label values from whoever keeps it, when it is asked for."""
        with self._lock:
            self._watched[values] = Watched(read)

    def numbers(self) -> list[tuple[tuple[str, ...], list[float]]]:
        """Give the label values and numbers of all series."""
        # Copied in one step, so that others may begin more.
        series: dict[tuple[str | int, ...], Series] = {
            **self._series.copy(),
            **self._watched.copy(),
        }
        return [(tuple(map(str, values)), each.numbers()) for values, each in series.items()]

    def _begin(self, values: tuple[str | int, ...]) -> S:
        with self._lock:
            if len(self._series) >= MAX_SERIES:
                values = (OTHER,) * len(self.labels)
            if values not in self._series:
                self._series[values] = self._make(self._environment.lock())
            return self._series[values]


def counter(environment: Environment, name: str, meaning: str, *labels: str) -> Family[Value]:
    """Describe something that is counted; the name ends with _total."""
    return Family("counter", name, meaning, labels, Value, environment)


def gauge(environment: Environment, name: str, meaning: str, *labels: str) -> Family[Value]:
    """Describe something that rises and falls; over processes it is summed."""
    return Family("gauge", name, meaning, labels, Value, environment)


def largest(environment: Environment, name: str, meaning: str, *labels: str) -> Family[Value]:
    """Describe something that rises and falls, and of which each process sees the same whole."""
    found = gauge(environment, name, meaning, *labels)
    found.is_largest = True
    return found


def histogram(
    environment: Environment, name: str, meaning: str, bounds: tuple[float, ...], *labels: str
) -> Family[Spread]:
    """Describe something that takes time; the name ends with _seconds."""
    return Family(
        "histogram",
        name,
        meaning,
        labels,
        lambda lock: Spread(lock, bounds),
        environment,
        bounds=bounds,
    )
