# SPDX-License-Identifier: Apache-2.0
"""Write a metarange from pieces in key order: whole ranges to reuse, and records.

The writer alone keeps the promise that equal records give equal ranges. It knows whether the last
piece ended at a cut. A whole range is reused where the records before it ended at one; otherwise
its records follow the unfinished ones, until a cut is met. A range that ends without a cut is held
back: it may be the last one and stay as it is, or be joined with what follows.

        pieces      [ range A ][ records ........ ][ range B ][ range C ]
        cuts                  |        |       |      |      |         |
        ranges      [ A       ][ new  ][ new  ][ new        ][ C       ]

Finished ranges are encoded, named and stored beside the caller; only so many may wait.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future

from lochan.committed.cuts import Cuts
from lochan.committed.files import Files
from lochan.committed.parallel import Crew
from lochan.committed.range import Range
from lochan.errors import Internal
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import Breathe
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId, RangeId
from lochan.sstable import write_table
from lochan.sstable.properties import CUT

RANGES, METARANGES = "ranges", "metaranges"


class MetaRangeWriter:
    """Takes pieces in key order and gives the id of their metarange."""

    def __init__(self, files: Files, cuts: Cuts, crew: Crew) -> None:
        """Begin an empty metarange."""
        self._files = files
        self._cuts = cuts
        self._crew = crew
        self._ranges: list[Range | Future[Range]] = []
        self._running: deque[Future[Range]] = deque()
        self._held: Range | None = None  # reused, but nothing may follow it
        self._unfinished: list[Records] = []  # rows since the last cut
        self._carried = 0  # their raw size
        self._last_key: bytes | None = None
        self.reused = 0
        self.written = 0

    def add_range(self, found: Range) -> None:
        """Go on with a whole range, reused where the cuts allow it."""
        if self._unfinished or self._held is not None:
            for rows in self._files.range_rows(found.id, self._crew.breathe):
                self.add_records(rows)
            return
        self._advance(found.min_key, found.max_key)
        if self._cuts.ends(found):
            self._reuse(found)
        else:
            self._held = found

    def add_records(self, records: Records) -> None:
        """Go on with records; those after the last cut wait for what follows."""
        if not len(records):
            return
        self._release_held()
        self._advance(records.keys[0], records.keys[-1])
        start = 0
        for stop in self._cuts.points(records, self._carried):
            self._unfinished.append(records.slice(start, stop))
            self._finish_range()
            start = stop
        if start < len(records):
            rest = records.slice(start, len(records))
            self._unfinished.append(rest)
            self._carried += rest.raw_size

    def finish(self) -> MetaRangeId:
        """Store the metarange over everything added; the empty one has no file."""
        if self._held is not None:
            self._reuse(self._held)
        if self._unfinished:
            self._finish_range()
        rows = [_result(found).row() for found in self._ranges]
        if not rows:
            return MetaRangeId("")
        file = write_table(Records.of(rows), METARANGES, {}, executor=self._crew.executor)
        self._files.put(file, self._crew.breathe)
        return MetaRangeId(file.id)

    def abandon(self) -> None:
        """Stop: wait for what is being stored, so that nothing is written afterwards."""
        for running in self._running:
            running.cancel()
        for running in self._running:
            if not running.cancelled():
                running.exception()

    def _release_held(self) -> None:
        if self._held is None:
            return
        rows = list(self._files.range_rows(self._held.id, self._crew.breathe))
        self._held = None
        self._unfinished = rows
        self._carried = sum(each.raw_size for each in rows)

    def _advance(self, first: bytes, last: bytes) -> None:
        if self._last_key is not None and first <= self._last_key:
            raise Internal(f"key {first!r} was added after {self._last_key!r}")
        self._last_key = last

    def _reuse(self, found: Range) -> None:
        self._ranges.append(found)
        self.reused += 1

    def _finish_range(self) -> None:
        records = kernel.concat(self._unfinished, self._crew.breathe)
        store = _store_job(records, self._cuts, self._files, self._crew)
        self._unfinished = []
        self._carried = 0
        self.written += 1
        while len(self._running) > self._crew.ahead:
            self._running.popleft().result()
        running = self._crew.executor.submit(store)
        self._ranges.append(running)
        self._running.append(running)


def _store_job(records: Records, cuts: Cuts, files: Files, crew: Crew) -> Callable[[], Range]:
    def store() -> Range:
        return store_range(files, cuts, records, crew.executor, crew.breathe)

    return store


def store_range(
    files: Files,
    cuts: Cuts,
    records: Records,
    executor: Executor | None = None,
    breathe: Breathe = None,
) -> Range:
    """Store records, up to a cut or the end of a snapshot, as one range."""
    cut = cuts.kind(records.keys[-1], records.raw_size)
    file = write_table(records, RANGES, {CUT: cut}, executor=executor, breathe=breathe)
    files.put(file, breathe)
    return Range(RangeId(file.id), file.min_key, file.max_key, file.raw_size, file.count)


def _result(found: Range | Future[Range]) -> Range:
    return found.result() if isinstance(found, Future) else found
