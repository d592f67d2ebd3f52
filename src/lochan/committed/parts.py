# SPDX-License-Identifier: Apache-2.0
"""Write a snapshot in parts, by many writers at once, each with a stretch of sorted records.

A writer does not know what lies before its stretch, so it cannot know where its first range begins;
nor where its last one ends. But behind a hash cut everything follows from what is behind it. So it
stores the ranges between its first hash cut and its last cut, and hands over the rest:

        stretch       [ rows ... h | range | range | range | rows ... ]
                        head         ranges                   tail

Whoever has all parts joins each tail with the next head. The result is the snapshot that one writer
would have written (D4).
"""

from collections.abc import Iterable
from concurrent.futures import Executor
from typing import NamedTuple

from lochan.committed.cuts import HASH, Cuts
from lochan.committed.files import Files
from lochan.committed.parallel import Crew
from lochan.committed.range import Range
from lochan.committed.writer import MetaRangeWriter, store_range
from lochan.kernel.chosen import kernel
from lochan.kernel.records import EMPTY, Records
from lochan.model.ids import MetaRangeId


class Part(NamedTuple):
    """A stretch of a snapshot: rows up to a hash cut, stored ranges, rows without a cut."""

    head: Records
    ranges: tuple[Range, ...]
    tail: Records


def write_part(
    files: Files, cuts: Cuts, chunks: Iterable[Records], executor: Executor | None = None
) -> Part:
    """Store what can be stored of a stretch; the chunks are sorted, within and across."""
    waiting: list[Records] = []
    head: Records | None = None
    ranges: list[Range] = []
    carried = 0
    for chunk in chunks:
        start = 0
        while head is None and start < len(chunk):
            stop = _first_hash_cut(chunk.slice(start, len(chunk)), cuts)
            if stop is None:
                waiting.append(chunk.slice(start, len(chunk)))
                start = len(chunk)
            else:
                head = kernel.concat([*waiting, chunk.slice(start, start + stop)])
                waiting, start = [], start + stop
        rest = chunk.slice(start, len(chunk))
        begin = 0
        for stop in cuts.points(rest, carried):
            whole = kernel.concat([*waiting, rest.slice(begin, stop)])
            ranges.append(store_range(files, cuts, whole, executor))
            waiting, carried, begin = [], 0, stop
        if begin < len(rest):
            last = rest.slice(begin, len(rest))
            waiting.append(last)
            carried += last.raw_size
    left = kernel.concat(waiting) if waiting else EMPTY
    return Part(left, (), EMPTY) if head is None else Part(head, tuple(ranges), left)


def join_parts(files: Files, cuts: Cuts, crew: Crew, parts: Iterable[Part]) -> MetaRangeId:
    """Join parts in key order into one snapshot."""
    writer = MetaRangeWriter(files, cuts, crew)
    try:
        for part in parts:
            writer.add_records(part.head)
            for found in part.ranges:
                writer.add_range(found)
            writer.add_records(part.tail)
        return writer.finish()
    except BaseException:
        writer.abandon()
        raise


def _first_hash_cut(records: Records, cuts: Cuts) -> int | None:
    """Give how many rows there are up to the first hash cut; None where there is none."""
    for stop in kernel.cut_points(records, cuts.raggedness, _NO_CAP):
        if cuts.kind(records.keys[stop - 1], 0) == HASH:
            return int(stop)
    return None


_NO_CAP = 1 << 62
