# SPDX-License-Identifier: Apache-2.0
"""List a snapshot like a folder: records, and common prefixes for what a delimiter hides.

What hides behind a common prefix is jumped over by seeking, so that a listing costs as much as it
shows, not as much as there is. Anything with keys in order can be listed so: records, changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from lochan.committed.interval import Interval, after_prefix


@dataclass(frozen=True, slots=True)
class Prefix:
    """All keys that begin alike up to a delimiter."""

    prefix: bytes


class Keyed(Protocol):
    """Whatever has a key."""

    @property
    def key(self) -> bytes:
        """Where it stands."""


Item = TypeVar("Item", bound=Keyed)
Item_co = TypeVar("Item_co", bound=Keyed, covariant=True)


class Walk(Protocol[Item_co]):
    """Records in key order that can be jumped over: a cursor, or anything like one."""

    def seek(self, key: bytes) -> None:
        """Stand before the first record whose key is not below `key`."""

    def next(self) -> Item_co | None:
        """Give the record that comes next and move behind it; None at the end."""


def list_records(
    cursor: Walk[Item], prefix: bytes = b"", *, after: bytes = b"", delimiter: bytes = b""
) -> Iterator[Item | Prefix]:
    """Give what lies under `prefix` and behind `after`, in key order.

    With `after` set to an item that was given, record or common prefix, the listing goes on behind
    it; an empty `after` is none.
    """
    within = Interval.under(prefix)
    start = _start(prefix, after, delimiter)
    if start is None:
        return
    cursor.seek(start)
    while (record := cursor.next()) is not None:
        if within.stop is not None and record.key >= within.stop:
            return
        hidden = record.key.find(delimiter, len(prefix)) if delimiter else -1
        if hidden < 0:
            yield record
            continue
        folder = record.key[: hidden + len(delimiter)]
        yield Prefix(folder)
        behind = after_prefix(folder)
        if behind is None:
            return
        cursor.seek(behind)


def _start(prefix: bytes, after: bytes, delimiter: bytes) -> bytes | None:
    """Find the first key that may be listed behind `after`; None if there can be none."""
    if not after or after < prefix:
        return prefix
    hidden = after.find(delimiter, len(prefix)) if delimiter and after.startswith(prefix) else -1
    if hidden >= 0:
        # `after` is a common prefix, or a key inside one that was shown already.
        return after_prefix(after[: hidden + len(delimiter)])
    return after + b"\x00"
