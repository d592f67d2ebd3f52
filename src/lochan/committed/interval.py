# SPDX-License-Identifier: Apache-2.0
"""A stretch of the key space, half open."""

from dataclasses import dataclass

from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records


@dataclass(frozen=True, slots=True)
class Interval:
    """The keys from `start` up to, not including, `stop`; None is no bound."""

    start: bytes = b""
    stop: bytes | None = None

    @classmethod
    def under(cls, prefix: bytes) -> "Interval":
        """Give the keys that begin with a prefix."""
        return cls(prefix, after_prefix(prefix))

    @classmethod
    def of(cls, key: bytes) -> "Interval":
        """Give a single key."""
        return cls(key, key + b"\0")

    def meets(self, min_key: bytes, max_key: bytes) -> bool:
        """Say whether any key between the two, both included, may lie inside."""
        return max_key >= self.start and (self.stop is None or min_key < self.stop)

    def clip(self, records: Records) -> Records:
        """Give the rows that lie inside."""
        first = kernel.lower_bound(records.keys, self.start)
        last = len(records) if self.stop is None else kernel.lower_bound(records.keys, self.stop)
        return records.slice(first, last)


EVERYTHING = Interval()


def after_prefix(prefix: bytes) -> bytes | None:
    """Give the smallest key behind all that begin with a prefix; None if there is no such key."""
    short = prefix.rstrip(b"\xff")
    return short[:-1] + bytes([short[-1] + 1]) if short else None
