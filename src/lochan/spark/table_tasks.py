# SPDX-License-Identifier: Apache-2.0
"""Metadata tables whose rows lie in ranges: which task reads which range, and how.

    objects   one task a range
    diff      one task for each stretch of keys in which ranges differ; equal ranges are not read

A task is handed ids of ranges and reads them from the storage. Nobody asks the key-value store.
Spark may run several of these tasks as one of its own (`tables`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lochan.committed.interval import EVERYTHING, Interval
from lochan.committed.metarange import MetaRange
from lochan.committed.range import Range
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Column, Records
from lochan.model.ids import MetaRangeId, RangeId
from lochan.spark.entry_arrays import Array, EntryArrays, numbers
from lochan.spark.reach import Reach

_BLOCKS: Final = 1024  # some ten thousand rows at a time
_KINDS: Final = {"a": "added", "r": "removed", "c": "changed"}
_LEFT: Final = "left_"


@dataclass(frozen=True, slots=True)
class ObjectsTasks:
    """The rows of a tree; task i reads the i-th range."""

    reach: Reach
    within: Interval
    ranges: tuple[RangeId, ...]
    schema: pa.Schema

    def __len__(self) -> int:
        return len(self.ranges)

    def only(self, number: int) -> "ObjectsTasks":
        """Give one task alone."""
        return replace(self, ranges=(self.ranges[number],))

    def batches(self, number: int) -> Iterator[pa.RecordBatch]:
        """Read one range."""
        table = self.reach.snapshots.files.range_once(self.ranges[number])
        for first in range(0, table.block_count, _BLOCKS):
            rows = table.scan(first, min(first + _BLOCKS, table.block_count))
            shown = EntryArrays(self.within.clip(rows), self.reach.namespace)
            arrays = [shown.column(name) for name in self.schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class Stretch(NamedTuple):
    """Ranges of both sides that share keys, and share none with those of other stretches."""

    left: tuple[RangeId, ...]
    right: tuple[RangeId, ...]


@dataclass(frozen=True, slots=True)
class DiffTasks:
    """What differs between two trees; task i reads the i-th stretch."""

    reach: Reach
    within: Interval
    stretches: tuple[Stretch, ...]
    schema: pa.Schema

    def __len__(self) -> int:
        return len(self.stretches)

    def only(self, number: int) -> "DiffTasks":
        """Give one task alone."""
        return replace(self, stretches=(self.stretches[number],))

    def batches(self, number: int) -> Iterator[pa.RecordBatch]:
        """Compare the ranges of one stretch."""
        left, right = (self._records(side) for side in self.stretches[number])
        found = kernel.diff(left, right)
        if not found.kinds:
            return
        sides = {
            _LEFT: _Side(left, found.left, self.reach.namespace),
            "": _Side(right, found.right, self.reach.namespace),
        }
        kinds = pa.array([_KINDS[chr(kind)] for kind in found.kinds], pa.string())
        paths = pc.coalesce(sides[""].column("path"), sides[_LEFT].column("path"))
        told = {"type": kinds, "path": paths}
        arrays = [
            told[name]
            if name in told
            else sides[_LEFT].column(name.removeprefix(_LEFT))
            if name.startswith(_LEFT)
            else sides[""].column(name)
            for name in self.schema.names
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _records(self, ranges: Sequence[RangeId]) -> Records:
        files = self.reach.snapshots.files
        return self.within.clip(kernel.concat([files.range_once(one).records() for one in ranges]))


class _Side:
    """One side of differences: null where it lacks the key."""

    def __init__(self, records: Records, rows: memoryview, namespace: str) -> None:
        places = numbers(rows)
        here = pc.greater_equal(places, 0)
        taken = memoryview(places.filter(here).to_numpy())
        picked = Records(
            kernel.take(records.keys, taken),
            Column.of([b""] * len(taken)),
            kernel.take(records.values, taken),
        )
        counted = pc.subtract(pc.cumulative_sum(here.cast(pa.int64())), 1)
        self._order = pc.if_else(here, counted, pa.scalar(None, pa.int64()))
        self._shown = EntryArrays(picked, namespace)

    def column(self, name: str) -> Array:
        return self._shown.column(name).take(self._order)


def objects_tasks(reach: Reach, tree: str, prefix: str, schema: pa.Schema) -> ObjectsTasks:
    """Share the rows of a tree below a prefix out to tasks."""
    within = Interval.under(prefix.encode()) if prefix else EVERYTHING
    found = _ranges(reach, tree, within)
    return ObjectsTasks(reach, within, tuple(one.id for one in found), schema)


def diff_tasks(reach: Reach, trees: tuple[str, str], prefix: str, schema: pa.Schema) -> DiffTasks:
    """Share the differences of two trees out to tasks."""
    within = Interval.under(prefix.encode()) if prefix else EVERYTHING
    left, right = (reach.snapshots.files.metarange(MetaRangeId(tree)) for tree in trees)
    rows = kernel.diff(left.records, right.records)
    sides = [
        (one, side)
        for side, (metarange, numbered) in enumerate(((left, rows.left), (right, rows.right)))
        for one in _chosen(metarange, numbered, within)
    ]
    return DiffTasks(reach, within, tuple(stretches(sides)), schema)


def stretches(sides: Sequence[tuple[Range, int]]) -> Iterator[Stretch]:
    """Group ranges that overlap, directly or through others; sides are 0 and 1."""
    group: tuple[list[RangeId], list[RangeId]] = ([], [])
    reached = b""
    for one, side in sorted(sides, key=lambda pair: (pair[0].min_key, pair[1])):
        if (group[0] or group[1]) and one.min_key > reached:
            yield Stretch(tuple(group[0]), tuple(group[1]))
            group, reached = ([], []), b""
        group[side].append(one.id)
        reached = max(reached, one.max_key)
    if group[0] or group[1]:
        yield Stretch(tuple(group[0]), tuple(group[1]))


def _ranges(reach: Reach, tree: str, within: Interval) -> Iterator[Range]:
    metarange = reach.snapshots.files.metarange(MetaRangeId(tree))
    return (one for one in metarange if within.meets(one.min_key, one.max_key))


def _chosen(metarange: MetaRange, rows: memoryview, within: Interval) -> Iterator[Range]:
    found = (metarange[row] for row in rows if row >= 0)
    return (one for one in found if within.meets(one.min_key, one.max_key))
