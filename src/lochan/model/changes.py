# SPDX-License-Identifier: Apache-2.0
"""How two trees differ, and where a merge cannot decide.

A change is read from left to right: *added* means that only the right side has the key. Two values
are the same exactly if their identities are.
"""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from lochan.model.records import ValueRecord


class ChangeKind(StrEnum):
    """What happened to a key; the words are those of the REST API."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    CONFLICT = "conflict"  # both sides changed it differently since their common base
    PREFIX_CHANGED = "prefix_changed"  # something under this prefix changed


class Change(msgspec.Struct, frozen=True):
    """One key that differs; a side that lacks it is None."""

    kind: ChangeKind
    key: bytes
    left: ValueRecord | None = None
    right: ValueRecord | None = None


class Conflict(msgspec.Struct, frozen=True):
    """One key that a merge cannot decide; a side that lacks it is None."""

    key: bytes
    base: ValueRecord | None = None
    dest: ValueRecord | None = None
    source: ValueRecord | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """How many keys were added, removed and changed, and how many are in conflict."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    conflict: int = 0

    @property
    def total(self) -> int:
        """Count all of them."""
        return self.added + self.removed + self.changed + self.conflict


def change_between(
    key: bytes, left: ValueRecord | None, right: ValueRecord | None
) -> Change | None:
    """Say how `key` changed from left to right, or None if it did not."""
    if left is None and right is None:
        return None
    if left is None:
        return Change(ChangeKind.ADDED, key, None, right)
    if right is None:
        return Change(ChangeKind.REMOVED, key, left, None)
    if left.identity == right.identity:
        return None
    return Change(ChangeKind.CHANGED, key, left, right)


def summarize(changes: Iterable[Change]) -> Summary:
    """Count changes by kind; changed prefixes are not keys and do not count."""
    counts = Counter(change.kind for change in changes)
    return Summary(
        added=counts[ChangeKind.ADDED],
        removed=counts[ChangeKind.REMOVED],
        changed=counts[ChangeKind.CHANGED],
        conflict=counts[ChangeKind.CONFLICT],
    )
