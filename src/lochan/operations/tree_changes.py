# SPDX-License-Identifier: Apache-2.0
"""Walk the differences of two trees in key order, with jumps.

Differences come in chunks of about a range. A jump inside the chunk at hand is a binary search; one
that goes further takes a few more chunks, which are being loaded anyway, and then begins anew at
the key: so a jump over little is cheap, and one over much opens nothing of it.
"""

from bisect import bisect_left
from collections.abc import Iterator

from lochan.committed import Differences, Snapshots
from lochan.committed.interval import Interval
from lochan.model.changes import Change
from lochan.model.ids import MetaRangeId

_CHUNKS_PASSED = 4  # as many as are loaded ahead of the walk


class TreeChanges:
    """Stands before a change; `next` gives it and moves on."""

    def __init__(
        self, snapshots: Snapshots, left: MetaRangeId, right: MetaRangeId, stop: bytes | None
    ) -> None:
        """Walk the changes from left to right, of keys below `stop`; None is no bound."""
        self._snapshots = snapshots
        self._trees = (left, right)
        self._stop = stop
        self._chunks: Iterator[Differences] | None = None
        self._chunk: Differences | None = None
        self._row = 0

    def seek(self, key: bytes) -> None:
        """Stand before the first change whose key is not below `key`; jumps go forwards only."""
        for _ in range(_CHUNKS_PASSED if self._chunks is not None else 0):
            if self._chunk is None:
                return
            if self._chunk.key(len(self._chunk) - 1) >= key:
                rows = range(self._row, len(self._chunk))
                self._row += bisect_left(rows, key, key=self._chunk.key)
                return
            self._load()
        self._chunks = self._snapshots.diff(*self._trees, Interval(key, self._stop))
        self._load()

    def next(self) -> Change | None:
        """Give the change that comes next and move behind it; None at the end."""
        while self._chunk is not None and self._row >= len(self._chunk):
            self._load()
        if self._chunk is None:
            return None
        self._row += 1
        return self._chunk[self._row - 1]

    def _load(self) -> None:
        self._chunk = next(self._chunks, None) if self._chunks is not None else None
        self._row = 0
