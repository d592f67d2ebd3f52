# SPDX-License-Identifier: Apache-2.0
"""Compare two snapshots: what differs, in key order, in time proportional to the difference.

A metarange is itself a list of records, so the two metaranges are compared first, like any records:
rows that are equal name ranges that are equal, and these are never opened. The ranges that remain
on either side are read side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lochan.committed.files import Files
from lochan.committed.interval import EVERYTHING, Interval
from lochan.committed.join import joined, records_of
from lochan.committed.metarange import MetaRange
from lochan.committed.parallel import Crew
from lochan.committed.range import Range
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import DiffRows
from lochan.kernel.records import Records
from lochan.model.changes import Change, ChangeKind
from lochan.model.records import ValueRecord

_KINDS = {
    ord("a"): ChangeKind.ADDED,
    ord("r"): ChangeKind.REMOVED,
    ord("c"): ChangeKind.CHANGED,
}


@dataclass(frozen=True, slots=True)
class Differences:
    """Some differences in key order, as row numbers of two record lists; iterate for changes."""

    rows: DiffRows
    left: Records
    right: Records

    def __len__(self) -> int:
        return len(self.rows.kinds)

    def __getitem__(self, row: int) -> Change:
        left, right = self.rows.left[row], self.rows.right[row]
        sides = (value_at(self.left, left), value_at(self.right, right))
        return Change(_KINDS[self.rows.kinds[row]], self.key(row), *sides)

    def key(self, row: int) -> bytes:
        """Give the key of one difference without copying its values."""
        left = self.rows.left[row]
        return self.left.keys[left] if left >= 0 else self.right.keys[self.rows.right[row]]

    def __iter__(self) -> Iterator[Change]:
        for kind, left, right in zip(*self.rows, strict=True):
            key = self.left.keys[left] if left >= 0 else self.right.keys[right]
            yield Change(_KINDS[kind], key, value_at(self.left, left), value_at(self.right, right))


def value_at(records: Records, row: int) -> ValueRecord | None:
    """Copy one row's identity and data; None for row -1, which stands for absence."""
    if row < 0:
        return None
    return ValueRecord(identity=records.identities[row], data=records.values[row])


def diff(
    files: Files, crew: Crew, left: MetaRange, right: MetaRange, within: Interval = EVERYTHING
) -> Iterator[Differences]:
    """Give the differences from left to right, chunk by chunk; chunks are never empty."""
    rows = kernel.diff(left.records, right.records)
    streams = (
        records_of(files, crew, _differing(left, rows.left, within)),
        records_of(files, crew, _differing(right, rows.right, within)),
    )
    for ours, theirs in joined(*streams):
        ours_within, theirs_within = within.clip(ours), within.clip(theirs)
        found = kernel.diff(ours_within, theirs_within)
        if found.kinds:
            yield Differences(found, ours_within, theirs_within)


def _differing(metarange: MetaRange, rows: memoryview, within: Interval) -> Iterator[Range]:
    ranges = (metarange[row] for row in rows if row >= 0)
    return (found for found in ranges if within.meets(found.min_key, found.max_key))
