# SPDX-License-Identifier: Apache-2.0
"""Walk the records of a snapshot in key order; skip by key or by range.

A cursor reads what it needs: one block after a seek, then more at a time as the walk goes on. A
step that fails leaves it where it was, so that a repeat goes on as if nothing had been. The depth
says how many levels of files there are: at 2 the rows of the metarange name ranges, at 3 they
name metaranges, and so on. Snapshots written today have 2.
"""

from collections.abc import Iterator

from lochan.committed.files import Files
from lochan.committed.range import Range
from lochan.kernel.chosen import kernel
from lochan.kernel.records import EMPTY, Record, Records
from lochan.model.ids import MetaRangeId
from lochan.sstable import StoredTable

DEPTH = 2
_MOST_BLOCKS = 256  # about a megabyte of rows at a time


class Cursor:
    """Stands before a record; `next` gives it and moves on. Not to be shared between threads."""

    def __init__(self, files: Files, id: MetaRangeId, depth: int = DEPTH) -> None:  # noqa: A002
        """Stand before the first record."""
        self._files = files
        self._id = id
        self._depth = depth
        self.range: Range | None = None  # the range of the record that comes next
        self.seek(b"")

    def seek(self, key: bytes) -> None:
        """Stand before the first record whose key is not below `key`."""
        ahead = leaves(self._files, self._id, key, self._depth)
        found = next(ahead, None)
        table, block, rows = None, 0, EMPTY
        if found is not None and key > found.min_key:
            table = self._files.range(found.id)
            first = table.find_block(key)
            block = min(first + 1, table.block_count)
            rows = table.scan(first, block)
        self._leaves = ahead
        self._enter(found, table, block, rows)
        self._row = kernel.lower_bound(rows.keys, key)

    def next(self) -> Record | None:
        """Give the record that comes next and move behind it; None at the end."""
        while self._row >= len(self._rows):
            if not self._more():
                return None
        record = self._rows[self._row]
        self._row += 1
        return record

    def next_range(self) -> Range | None:
        """Skip what is left of the current range; give the one that begins here, or None."""
        self._enter(self._following())
        return self.range

    def __iter__(self) -> Iterator[Record]:
        """Give all records that are left."""
        while (record := self.next()) is not None:
            yield record

    def _enter(
        self,
        found: Range | None,
        table: StoredTable | None = None,
        block: int = 0,
        rows: Records = EMPTY,
    ) -> None:
        self.range = found
        self._table = table
        self._block = block
        self._rows = rows
        self._row = 0
        self._step = 1

    def _opened(self) -> StoredTable:
        if self._table is None:
            assert self.range is not None  # noqa: S101 - callers have looked
            self._table = self._files.range(self.range.id)
        return self._table

    def _more(self) -> bool:
        """Load the next rows, of this range or the following one; False at the end."""
        if self.range is None:
            return False
        if self._block < self._opened().block_count:
            self._load(self._step)
        else:
            self._enter(self._following())
        return True

    def _following(self) -> Range | None:
        try:
            return next(self._leaves, None)
        except BaseException:
            # A generator that has raised is over; asked again, it would tell of an end.
            if self.range is not None:
                behind = self.range.max_key + b"\x00"
                self._leaves = leaves(self._files, self._id, behind, self._depth)
            raise

    def _load(self, blocks: int) -> None:
        table = self._opened()
        stop = min(self._block + blocks, table.block_count)
        self._rows = table.scan(self._block, stop)
        self._row = 0
        self._block = stop
        self._step = min(2 * blocks, _MOST_BLOCKS)


def leaves(files: Files, id: MetaRangeId, start: bytes, depth: int) -> Iterator[Range]:  # noqa: A002
    """Give the ranges of a tree in key order, from the first that may hold `start` on."""
    metarange = files.metarange(id)
    for found in metarange.between(metarange.find(start), len(metarange)):
        if depth > DEPTH:
            yield from leaves(files, MetaRangeId(found.id), start, depth - 1)
        else:
            yield found
