# SPDX-License-Identifier: Apache-2.0
"""Merge two snapshots that come from a common base.

Segment by segment (`align`): where a side still equals the base, or both sides are equal, the ids
decide and whole ranges are passed on unopened. Elsewhere the three are read side by side and
decided row by row: who left a key as it was yields to who changed it; equal changes agree;
different ones are a conflict, settled by the strategy or reported.

Sameness is that of identities. Where the data differs under one identity (the same content stored
again at another address) either side's row may be taken: the destination's where rows decide, that
of the chosen ranges where ids decide.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lochan.committed.align import Segment, aligned
from lochan.committed.cuts import Cuts
from lochan.committed.diff import value_at
from lochan.committed.files import Files
from lochan.committed.join import joined, records_of
from lochan.committed.metarange import MetaRange
from lochan.committed.parallel import Crew
from lochan.committed.range import Range
from lochan.committed.writer import MetaRangeWriter
from lochan.errors import InvalidInput
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import MergedRows
from lochan.kernel.records import Records
from lochan.model.changes import Conflict
from lochan.model.ids import MetaRangeId

STRATEGIES = ("", "dest-wins", "source-wins")
CONFLICTS_LISTED = 1000  # all are counted; so many are described


@dataclass(frozen=True, slots=True)
class Merged:
    """What came of it: the merged metarange, or None and the conflicts that nobody settled.

    Conflicts that a strategy settled are counted and listed too.
    """

    id: MetaRangeId | None
    conflicts: tuple[Conflict, ...] = ()
    conflict_count: int = 0
    ranges_reused: int = 0
    ranges_written: int = 0


def merge(
    files: Files,
    cuts: Cuts,
    crew: Crew,
    sides: tuple[MetaRange, MetaRange, MetaRange],
    strategy: str,
) -> Merged:
    """Merge (base, dest, source); the strategy settles conflicts, "" reports them."""
    if strategy not in STRATEGIES:
        raise InvalidInput(f"no merge strategy {strategy!r}; there are dest-wins and source-wins")
    base, dest, source = sides
    if source.id in {base.id, dest.id}:
        return Merged(dest.id, ranges_reused=len(dest))
    if dest.id == base.id:
        return Merged(source.id, ranges_reused=len(source))
    return _Merging(files, cuts, crew, strategy).run(aligned(base, dest, source))


class _Merging:
    """One merge under way: the writer, and the conflicts met so far."""

    def __init__(self, files: Files, cuts: Cuts, crew: Crew, strategy: str) -> None:
        self._files = files
        self._crew = crew
        self._strategy = strategy
        self._writer = MetaRangeWriter(files, cuts, crew)
        self._listed: list[Conflict] = []
        self._count = 0

    def run(self, segments: Iterator[Segment]) -> Merged:
        """Merge all segments. After an unsettled conflict the rest is only searched for more."""
        try:
            for segment in segments:
                self._add(segment)
            found = None if self._refused() else self._writer.finish()
        except BaseException:
            self._writer.abandon()
            raise
        if found is None:
            self._writer.abandon()
        return Merged(
            found, tuple(self._listed), self._count, self._writer.reused, self._writer.written
        )

    def _refused(self) -> bool:
        return self._count > 0 and not self._strategy

    def _add(self, segment: Segment) -> None:
        base, dest, source = segment
        if _ids(source) == _ids(base) or _ids(source) == _ids(dest):
            self._add_ranges(dest)
        elif _ids(dest) == _ids(base):
            self._add_ranges(source)
        else:
            self._add_rows(segment)

    def _add_ranges(self, ranges: list[Range]) -> None:
        if self._refused():
            return
        for found in ranges:
            self._writer.add_range(found)

    def _add_rows(self, segment: Segment) -> None:
        streams = [records_of(self._files, self._crew, ranges) for ranges in segment]
        for chunk in joined(*streams):
            merged = kernel.merge(chunk[0], chunk[1], chunk[2], self._strategy)
            self._note(merged, chunk)
            if not self._refused():
                self._writer.add_records(merged.records)

    def _note(self, merged: MergedRows, chunk: tuple[Records, ...]) -> None:
        self._count += len(merged.base)
        for rows in zip(merged.base, merged.dest, merged.source, strict=True):
            if len(self._listed) >= CONFLICTS_LISTED:
                return
            self._listed.append(_conflict(chunk, rows))


def _conflict(chunk: tuple[Records, ...], rows: tuple[int, int, int]) -> Conflict:
    key = next(side.keys[row] for side, row in zip(chunk, rows, strict=True) if row >= 0)
    base, dest, source = (value_at(side, row) for side, row in zip(chunk, rows, strict=True))
    return Conflict(key, base, dest, source)


def _ids(ranges: list[Range]) -> list[str]:
    return [found.id for found in ranges]
