# SPDX-License-Identifier: Apache-2.0
"""Walk what a merge would bring: the source's changes since the base, held against the destination.

    base -> source    destination has        is shown as
    any change        what source has        nothing: both did the same
    any change        what base has          the change
    any change        anything else          a conflict

The destination is looked up for some changes at a time: few for a first page, then more.
"""

from lochan.committed import Snapshots
from lochan.committed.listing import Walk
from lochan.kernel.records import Record
from lochan.model.changes import Change, ChangeKind
from lochan.model.ids import MetaRangeId
from lochan.model.records import ValueRecord

_FEWEST, _MOST = 32, 4096  # changes looked up at a time


class ComparedChanges:
    """Stands before a change; `next` gives it and moves on."""

    def __init__(self, theirs: Walk[Change], snapshots: Snapshots, ours: MetaRangeId) -> None:
        """Hold changes against a tree."""
        self._theirs = theirs
        self._snapshots = snapshots
        self._ours = ours
        self._ready: list[Change] = []  # in reverse: the next is the last
        self._amount = _FEWEST
        self._last = b""  # the greatest key that was looked up

    def seek(self, key: bytes) -> None:
        """Stand before the first change whose key is not below `key`; jumps go forwards only."""
        while self._ready and self._ready[-1].key < key:
            self._ready.pop()
        if not self._ready and not self._last >= key > b"":
            self._theirs.seek(key)

    def next(self) -> Change | None:
        """Give the change that comes next and move behind it; None at the end."""
        while not self._ready:
            if not self._load():
                return None
        return self._ready.pop()

    def _load(self) -> bool:
        """Look some more changes up; False at the end."""
        changes: list[Change] = []
        while len(changes) < self._amount and (change := self._theirs.next()) is not None:
            changes.append(change)
        if not changes:
            return False
        held = self._snapshots.get_many(self._ours, [change.key for change in changes])
        compared = (_compared(change, row) for change, row in zip(changes, held, strict=True))
        self._ready = [change for change in compared if change is not None][::-1]
        self._last = changes[-1].key
        self._amount = min(2 * self._amount, _MOST)
        return True


def _compared(change: Change, row: Record) -> Change | None:
    ours = row.identity
    if ours == _identity(change.right):
        return None
    if ours == _identity(change.left):
        return change
    held = ValueRecord(row.identity, row.value) if ours else None
    return Change(ChangeKind.CONFLICT, change.key, held, change.right)


def _identity(side: ValueRecord | None) -> bytes:
    return side.identity if side else b""
