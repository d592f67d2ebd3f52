# SPDX-License-Identifier: Apache-2.0
"""Chance that can be had again: a stream of numbers that its seed and name decide.

SplitMix64 over a seed hashed from (seed, name), so that streams of different names are unrelated
and no Python release changes what an old seed means.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


class Chance:
    """One named stream."""

    def __init__(self, seed: int, name: str) -> None:
        """Begin the stream of this name under this seed."""
        digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
        self._state = int.from_bytes(digest[:8], "big")

    def number(self) -> int:
        """Give 64 bits."""
        self._state = (self._state + _GOLDEN) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def below(self, limit: int) -> int:
        """Give a number from 0 to limit - 1; the bias of the modulus is far below notice."""
        return self.number() % limit

    def happens(self, probability: float) -> bool:
        """Say yes with this probability."""
        return self.number() < probability * (1 << 64)

    def pick(self, items: Sequence[T]) -> T:
        """Choose one of several."""
        return items[self.number() % len(items)]

    def bytes(self, count: int) -> bytes:
        """Give this many bytes."""
        words = (self.number().to_bytes(8, "big") for _ in range((count + 7) // 8))
        return b"".join(words)[:count]
