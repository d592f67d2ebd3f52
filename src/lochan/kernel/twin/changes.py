# SPDX-License-Identifier: Apache-2.0
"""Two sorted record lists side by side: apply one to the other, or say how they differ."""

from array import array
from collections.abc import Iterator
from itertools import pairwise

from lochan.errors import InvalidInput
from lochan.kernel.interface import DiffRows
from lochan.kernel.records import Column, Record, Records

ABSENT = -1


def pair_rows(left: Column, right: Column) -> Iterator[tuple[int, int]]:
    """Walk two sorted key columns: row numbers of each key, -1 on the side that lacks it."""
    here, there = list(left), list(right)
    i = j = 0
    while i < len(here) and j < len(there):
        if here[i] == there[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif here[i] < there[j]:
            yield i, ABSENT
            i += 1
        else:
            yield ABSENT, j
            j += 1
    yield from ((row, ABSENT) for row in range(i, len(here)))
    yield from ((ABSENT, row) for row in range(j, len(there)))


def overlay(base: Records, changes: Records) -> tuple[Records, int]:
    """Apply sorted changes to base rows; count the rows added, removed or changed.

    An empty identity removes. A change whose identity equals the base row's keeps the base row:
    writing the same content again is no change.
    """
    for one, other in pairwise(changes.keys):
        if other <= one:
            raise InvalidInput(f"change {other!r} comes after {one!r}; sort the changes first")
    old, new = list(base), list(changes)
    rows: list[Record] = []
    changed = 0
    for i, j in pair_rows(base.keys, changes.keys):
        before = None if i == ABSENT else old[i]
        after = before if j == ABSENT else new[j]
        if after and not after.identity:
            after = None
        if after and before and after.identity == before.identity:
            after = before
        changed += after is not before
        if after:
            rows.append(after)
    return Records.of(rows), changed


def diff(left: Records, right: Records) -> DiffRows:
    """Compare two sorted record lists by key and identity."""
    before, after = list(left.identities), list(right.identities)
    kinds, lefts, rights = bytearray(), array("q"), array("q")
    for i, j in pair_rows(left.keys, right.keys):
        if i == ABSENT:
            kinds += b"a"
        elif j == ABSENT:
            kinds += b"r"
        elif before[i] != after[j]:
            kinds += b"c"
        else:
            continue
        lefts.append(i)
        rights.append(j)
    return DiffRows(bytes(kinds), memoryview(lefts), memoryview(rights))
