# SPDX-License-Identifier: Apache-2.0
"""The seed's Diff rows of a commit, computed from its tree and its parent's.

Rows of files come in key order. Directories have rows too, with the children that came or went; a
directory's row comes behind those of everything in it, since only then it is whole. A directory
that comes into being, or goes, is itself a child that came or went. A path that was a file and is a
directory, or the other way round, has one row for both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from lochan.committed import Snapshots
from lochan.committed.interval import EVERYTHING, Interval
from lochan.model.changes import Change, ChangeKind
from lochan.model.codec import decode_entry
from lochan.model.diff import Append, Diff
from lochan.model.entry import Block, Entry
from lochan.model.ids import EMPTY_TREE, MetaRangeId, ObjectKey
from lochan.model.records import Commit, Repository, ValueRecord
from lochan.operations.lake import Lake
from lochan.operations.open_commits.alignment import Piece
from lochan.operations.open_commits.commit_name import Numbers, finished_commit
from lochan.operations.open_commits.file_change import FileChange, change_between
from lochan.operations.open_commits.file_view import SEPARATOR, directories_of, valid_file_path

_BEHIND: Final = bytes([SEPARATOR[0] + 1])  # comes behind all that lies in a directory


def diffs(
    lake: Lake, repository: Repository, commit: str, path: str | bytes | None = None
) -> Iterator[Diff]:
    """Give what a commit did, path by path; with `path`, to that file alone.

    Only ranges that hold the path, or that differ, are opened. Raises NotFound, InvalidInput.
    """
    found = finished_commit(lake, repository, commit)
    key = None if path is None else valid_file_path(path)
    return _rows(lake, repository, found, key)


def _rows(
    lake: Lake, repository: Repository, commit: Commit, key: ObjectKey | None
) -> Iterator[Diff]:
    rows = _Rows(repository, commit, Numbers.of(lake, repository).name(commit))
    snapshots = lake.storage(repository.storage_namespace).snapshots
    before = lake.commits.tree(repository, commit.parents[0]) if commit.parents else EMPTY_TREE
    trees = (before, commit.meta_range_id)
    if key is not None:
        for differences in snapshots.diff(*trees, Interval(key, key + b"\0")):
            yield from map(rows.file, differences)
        return
    directories = _Directories(snapshots, *trees)
    for differences in snapshots.diff(*trees, EVERYTHING):
        for change in differences:
            yield from map(rows.directory, directories.left_for(change.key))
            if not directories.hold(change):
                yield rows.file(change)
            directories.note(change)
    yield from map(rows.directory, directories.left_for(None))


@dataclass(frozen=True, slots=True)
class _Rows:
    """Makes the rows of one commit."""

    repository: Repository
    commit: Commit
    name: str

    def file(self, change: Change) -> Diff:
        return self._row(change.key, _log(change), _size(change))

    def directory(self, directory: "_Directory") -> Diff:
        children = (Append(children=directory.children),) if directory.children else ()
        file = directory.file
        if file is None:
            return self._row(directory.path, children, 0)
        came = file.kind is ChangeKind.ADDED
        log = (*children, *_log(file)) if came else (*_log(file), *children)
        return self._row(directory.path, log, _size(file))

    def _row(self, path: bytes, appends: tuple[Append, ...], size: int) -> Diff:
        return Diff(
            ID=self.name.encode() + b":" + path,
            repo=self.repository.repository_id,
            commit=self.name,
            path=ObjectKey(path),
            delete=any(append.delete for append in appends),
            clocks=self.commit.clocks,
            appends=appends,
            size=size,
        )


def _entry(value: ValueRecord | None) -> Entry | None:
    return None if value is None else decode_entry(value.data)


def _done(change: Change) -> FileChange:
    return change_between(_entry(change.left), _entry(change.right))


def _size(change: Change) -> int:
    return sum(piece.size for piece in _done(change).pieces)


def _log(change: Change) -> tuple[Append, ...]:
    done = _done(change)
    deletion = (Append(delete=True),) if done.delete else ()
    if not done.is_file:
        return deletion
    return (*deletion, Append(blockrefs=tuple(map(_ref, done.pieces))))


def _ref(piece: Piece) -> str:
    return piece.hash.hex() if isinstance(piece, Block) else piece.address


@dataclass(slots=True)
class _Directory:
    """A directory being walked through, and how its children changed so far."""

    path: bytes
    children: dict[bytes, bool] = field(default_factory=dict)
    file: Change | None = None  # what became of the file of this path, if there was or is one
    stays: dict[bool, bool] = field(default_factory=dict)  # was there before, is there after

    def holds(self, key: bytes) -> bool:
        return not self.path or key.startswith(self.path + SEPARATOR)


class _Directories:
    """The directories on the way to the change at hand, outermost first."""

    def __init__(self, snapshots: Snapshots, before: MetaRangeId, after: MetaRangeId) -> None:
        self._snapshots = snapshots
        self._trees = {True: before, False: after}
        self._open = [_Directory(b"")]
        self._held: dict[bytes, Change] = {}

    def left_for(self, key: bytes | None) -> Iterator[_Directory]:
        """Leave the directories that do not hold `key`, innermost first; None is the end."""
        while self._open and (key is None or not self._open[-1].holds(key)):
            left = self._open.pop()
            if left.children or left.file:
                yield left
        for path in [held for held in self._held if key is None or key >= held + _BEHIND]:
            yield _Directory(path, file=self._held.pop(path))

    def hold(self, change: Change) -> bool:
        """Keep what became of a file whose path is a directory on the other side, till it is left.

        Nothing may happen in it: objects that were put whole may lie over a directory.
        """
        if change.kind is ChangeKind.CHANGED:
            return False
        other = self._trees[change.kind is ChangeKind.ADDED]
        if not self._is_directory(change.key, other):
            return False
        self._held[change.key] = change
        return True

    def note(self, change: Change) -> None:
        """Note a file that came or went, and every directory that came or went with it."""
        if change.kind is ChangeKind.CHANGED:
            return
        inner = list(directories_of(change.key))[len(self._open) - 1 :]
        self._open.extend(_Directory(path, file=self._held.pop(path, None)) for path in inner)
        came = change.kind is ChangeKind.ADDED
        path = change.key
        for directory in reversed(self._open):
            name = path.rpartition(SEPARATOR)[2]
            # A name that comes in one form and goes in another is there in the end.
            directory.children[name] = came or directory.children.get(name, False)
            if self._stays(directory, came=came):
                return
            path = directory.path

    def _stays(self, directory: _Directory, *, came: bool) -> bool:
        """Say whether a directory was there before something came, or is when something went."""
        if came not in directory.stays:
            there = self._is_directory(directory.path, self._trees[came])
            directory.stays[came] = there or not directory.path
        return directory.stays[came]

    def _is_directory(self, path: bytes, tree: MetaRangeId) -> bool:
        cursor = self._snapshots.cursor(tree)
        cursor.seek(path + SEPARATOR)
        found = cursor.next()
        return found is not None and found.key.startswith(path + SEPARATOR)
