# SPDX-License-Identifier: Apache-2.0
"""Apply changes of files to a tree: one stream in key order, one new tree.

A path cannot be a file and a directory. Each writer looks before it writes, but two may write at
once, and merges bring together what nobody saw together. So the new tree is looked at before it
becomes a commit's: only what was added can have made it wrong.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from lochan.committed import Snapshots
from lochan.committed.cursor import Cursor
from lochan.kernel.records import Record
from lochan.model.changes import ChangeKind
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Block, Entry, identity
from lochan.model.ids import MetaRangeId
from lochan.model.instant import Instant
from lochan.model.records import Clock, Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.open_commits.blocks import as_block
from lochan.operations.open_commits.file_change import Decide, applied
from lochan.operations.open_commits.file_view import SEPARATOR, directories_of
from lochan.operations.open_commits.put_file import file_and_directory
from lochan.staging.fold import changes

_LOOK_UPS: Final = 1_000  # files below the changes are looked up so many at a time
_STEPS: Final = 8

Changes = Iterable[tuple[bytes, Decide]]


@dataclass(frozen=True, slots=True)
class FileTrees:
    """Makes the trees of a repository's commits: files that begin in one have its clock."""

    lake: Lake
    repository: Repository
    now: Instant

    def changed(self, base: MetaRangeId, wanted: Changes, epoch: Clock) -> MetaRangeId:
        """Apply changes, in key order, to a tree. Raises Conflict, code file-and-directory."""
        rows = self._rows(base, iter(wanted), epoch)
        tree = self.snapshots.apply(base, changes(rows)).id
        _require_kinds(self.snapshots, base, tree)
        return tree

    @property
    def snapshots(self) -> Snapshots:
        """Where the trees are."""
        return self.lake.storage(self.repository.storage_namespace).snapshots

    def _rows(
        self, base: MetaRangeId, wanted: Iterator[tuple[bytes, Decide]], epoch: Clock
    ) -> Iterator[StagedEntry]:
        while batch := list(islice(wanted, _LOOK_UPS)):
            found = self.snapshots.get_many(base, [key for key, _ in batch])
            for (key, decide), below in zip(batch, found, strict=True):
                yield self._row(key, decide, below, epoch)

    def _row(self, key: bytes, decide: Decide, below: Record, epoch: Clock) -> StagedEntry:
        old = decode_entry(below.value) if below.identity else None
        new = applied(old, decide(old), epoch, self.now, self._as_block)
        return (
            StagedEntry(key) if new is None else StagedEntry(key, identity(new), encode_entry(new))
        )

    def _as_block(self, plain: Entry) -> Block:
        return as_block(self.lake, self.repository, plain)


def _require_kinds(snapshots: Snapshots, base: MetaRangeId, tree: MetaRangeId) -> None:
    looked_at: set[bytes] = set()
    ahead = _Ahead(snapshots.cursor(tree))
    for differences in snapshots.diff(base, tree):
        for change in differences:
            if change.kind is not ChangeKind.ADDED:
                continue
            directories = set(directories_of(change.key))
            for directory in directories - looked_at:
                if snapshots.get(tree, directory) is not None:
                    raise file_and_directory(directory)
            looked_at = directories  # the next key is in most of them, too
            inside = change.key + SEPARATOR
            following = ahead.first_from(inside)
            if following is not None and following.key.startswith(inside):
                raise file_and_directory(change.key)


class _Ahead:
    """Looks for keys that mostly ascend: a few steps are cheaper than a jump.

    They do not always: what lies in "a" comes behind what lies in "a-b".
    """

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._record = cursor.next()
        self._asked = b""

    def first_from(self, key: bytes) -> Record | None:
        ascends, self._asked = key >= self._asked, key
        for _ in range(_STEPS if ascends else 0):
            if self._record is None or self._record.key >= key:
                return self._record
            self._record = self._cursor.next()
        self._cursor.seek(key)
        self._record = self._cursor.next()
        return self._record
