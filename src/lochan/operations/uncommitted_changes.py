# SPDX-License-Identifier: Apache-2.0
"""Walk what a branch record shows against its head, or another tree, in key order, with jumps.

        head            the commit's tree
        base            the tree under the staged rows: the head's, or one that holds staged rows
                        which were written out before they were committed
        staged rows     of all tokens, newest first

A key differs if its staged row does, and where no row is staged, if the base does. Staged rows are
compared with the head some at a time: each costs a look-up in the tree, but no walk through it.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from lochan.kernel.records import Record
from lochan.model.changes import Change, change_between
from lochan.model.ids import MetaRangeId
from lochan.model.records import Branch, Repository, StagedEntry, ValueRecord
from lochan.operations.lake import Lake
from lochan.operations.tree_changes import TreeChanges
from lochan.operations.view import tree_under
from lochan.staging.fold import folded
from lochan.staging.layers import Layer, layers_of
from lochan.staging.sealed import Tokens

_FEWEST, _MOST = 32, 4096  # staged rows compared at a time: few for a first page, then more


class UncommittedChanges:
    """Stands before a change; `next` gives it and moves on."""

    def __init__(
        self,
        lake: Lake,
        repository: Repository,
        branch: Branch,
        stop: bytes | None = None,
        tokens: Tokens | None = None,
        *,
        against: MetaRangeId | None = None,
    ) -> None:
        """Walk the changes of keys below `stop`, of all tokens or of some; None is no bound.

        They are changes of the head's tree, unless it is another that they shall be held against.
        """
        snapshots = lake.storage(repository.storage_namespace).snapshots
        head = lake.commits.tree(repository, branch.commit_id) if against is None else against
        under = tree_under(lake, repository, branch)
        layers = layers_of(branch, tokens)
        self._staged = _StagedRows(lake, repository, layers, head, stop)
        self._below = TreeChanges(snapshots, head, under, stop)
        self._waiting: Change | None = None  # of the tree, behind the staged row at hand

    def seek(self, key: bytes) -> None:
        """Stand before the first change whose key is not below `key`; jumps go forwards only."""
        self._staged.seek(key)
        if self._waiting is None or self._waiting.key < key:
            self._below.seek(key)
            self._waiting = self._below.next()

    def next(self) -> Change | None:
        """Give the change that comes next and move behind it; None at the end."""
        while True:
            row = self._staged.peek()
            below = self._waiting
            if below is not None and (row is None or below.key < row.key):
                self._waiting = self._below.next()
                return below
            if row is None:
                return None
            if below is not None and below.key == row.key:
                self._waiting = self._below.next()
            self._staged.skip()
            if row.change is not None:
                return row.change


class _Row(NamedTuple):
    """A staged key, and how it differs from the head; None if it does not."""

    key: bytes
    change: Change | None


class _StagedRows:
    """The folded rows of a branch's tokens, compared with the head's tree."""

    def __init__(
        self,
        lake: Lake,
        repository: Repository,
        layers: tuple[Layer, ...],
        head: MetaRangeId,
        stop: bytes | None,
    ) -> None:
        self._staging = lake.staging
        self._layers = layers
        self._snapshots = lake.storage(repository.storage_namespace).snapshots
        self._head = head
        self._stop = stop
        self._entries: Iterator[StagedEntry] = iter(())
        self._rows: list[_Row] = []
        self._place = 0
        self._amount = _FEWEST

    def seek(self, key: bytes) -> None:
        if self._rows and self._rows[-1].key >= key:
            self._place = bisect_left(self._rows, key, self._place, key=lambda row: row.key)
            return
        self._entries = takewhile(self._is_wanted, folded(self._staging, self._layers, key))
        self._load()

    def peek(self) -> _Row | None:
        """Give the row that comes next; None at the end."""
        if self._place >= len(self._rows) and self._rows:
            self._load()
        return self._rows[self._place] if self._rows else None

    def skip(self) -> None:
        self._place += 1

    def _is_wanted(self, entry: StagedEntry) -> bool:
        return self._stop is None or entry.key < self._stop

    def _load(self) -> None:
        entries = list(islice(self._entries, self._amount))
        held = self._snapshots.get_many(self._head, [entry.key for entry in entries])
        self._rows = [_compared(entry, below) for entry, below in zip(entries, held, strict=True)]
        self._place = 0
        self._amount = min(2 * self._amount, _MOST)


def _compared(entry: StagedEntry, below: Record) -> _Row:
    left = ValueRecord(below.identity, below.value) if below.identity else None
    right = None if entry.is_tombstone else ValueRecord(entry.identity, entry.data)
    return _Row(entry.key, change_between(entry.key, left, right))
