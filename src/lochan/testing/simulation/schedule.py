# SPDX-License-Identifier: Apache-2.0
"""Who runs next: at random, by random priorities, as written down, or in order.

PCT (probabilistic concurrency testing) gives each process a random priority, runs the highest, and
at a few random steps drops whoever runs to the bottom: a bug that needs d ordering points is found
with a probability that falls only with steps ** (d - 1). Random order finds other bugs sooner; use
both.
"""

from collections.abc import Sequence
from typing import Protocol

from lochan.testing.simulation.chance import Chance


class Schedule(Protocol):
    """A decision at every step."""

    def choose(self, enabled: Sequence[str]) -> str:
        """Name the process that runs next, of those that can."""


class InOrder:
    """The first that can run, always: each process to its end or to its block."""

    def choose(self, enabled: Sequence[str]) -> str:
        """Name the first."""
        return enabled[0]


class RandomOrder:
    """Each that can run is as likely as the other."""

    def __init__(self, seed: int) -> None:
        """Draw from this seed."""
        self._chance = Chance(seed, "order")

    def choose(self, enabled: Sequence[str]) -> str:
        """Name any."""
        return self._chance.pick(enabled)


class Pct:
    """Random priorities with depth - 1 changes within the expected number of steps."""

    def __init__(self, seed: int, *, depth: int = 3, steps: int = 100) -> None:
        """Draw priorities and change points from this seed."""
        self._chance = Chance(seed, "priorities")
        self._changes = {self._chance.below(steps) for _ in range(depth - 1)}
        self._priorities: dict[str, int] = {}
        self._taken = 0
        self._lowest = 0

    def choose(self, enabled: Sequence[str]) -> str:
        """Name the highest; at a change point it falls below all others first."""
        for name in enabled:
            if name not in self._priorities:
                self._priorities[name] = self._chance.number() + 1
        highest = max(enabled, key=self._priorities.__getitem__)
        if self._taken in self._changes:
            self._lowest -= 1
            self._priorities[highest] = self._lowest
            highest = max(enabled, key=self._priorities.__getitem__)
        self._taken += 1
        return highest


class Scripted:
    """A schedule that was written down, then in order; it replays what an explorer found."""

    def __init__(self, names: Sequence[str]) -> None:
        """Follow these names, one a step."""
        self._names = list(reversed(names))

    def choose(self, enabled: Sequence[str]) -> str:
        """Name the next that was written down."""
        return self._names.pop() if self._names else enabled[0]
