# SPDX-License-Identifier: Apache-2.0
"""The seed's Diff rows of a commit, computed from its tree and its parent's.

Rows of files come in key order. Directories have rows too, with the children that came or went; a
directory's row comes behind those of everything in it, since only then it is whole. A directory
that comes into being, or goes, is itself a child that came or went.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lochan.committed import Snapshots
from lochan.committed.interval import EVERYTHING, Interval
from lochan.model.changes import Change, ChangeKind
from lochan.model.codec import decode_entry
from lochan.model.diff import Append, Diff
from lochan.model.entry import Block, Entry
from lochan.model.ids import EMPTY_TREE, MetaRangeId, ObjectKey
from lochan.model.records import Commit, Repository, ValueRecord
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import Numbers, finished_commit
from lochan.operations.open_commits.file_change import FileChange, Piece, change_between
from lochan.operations.open_commits.file_view import SEPARATOR, directories_of, valid_file_path


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
        done = change_between(_entry(change.left), _entry(change.right))
        size = sum(piece.size for piece in done.pieces)
        return self._row(change.key, _log(done), size)

    def directory(self, directory: "_Directory") -> Diff:
        return self._row(directory.path, (Append(children=directory.children),), 0)

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


def _log(done: FileChange) -> tuple[Append, ...]:
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
    stays: dict[bool, bool] = field(default_factory=dict)  # was there before, is there after

    def holds(self, key: bytes) -> bool:
        return not self.path or key.startswith(self.path + SEPARATOR)


class _Directories:
    """The directories on the way to the change at hand, outermost first."""

    def __init__(self, snapshots: Snapshots, before: MetaRangeId, after: MetaRangeId) -> None:
        self._snapshots = snapshots
        self._trees = {True: before, False: after}
        self._open = [_Directory(b"")]

    def left_for(self, key: bytes | None) -> Iterator[_Directory]:
        """Leave the directories that do not hold `key`, innermost first; None is the end."""
        while self._open and (key is None or not self._open[-1].holds(key)):
            left = self._open.pop()
            if left.children:
                yield left

    def note(self, change: Change) -> None:
        """Note a file that came or went, and every directory that came or went with it."""
        if change.kind is ChangeKind.CHANGED:
            return
        inner = list(directories_of(change.key))[len(self._open) - 1 :]
        self._open.extend(map(_Directory, inner))
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
            prefix = directory.path + SEPARATOR
            cursor = self._snapshots.cursor(self._trees[came])
            cursor.seek(prefix)
            found = cursor.next()
            there = found is not None and found.key.startswith(prefix)
            directory.stays[came] = there or not directory.path
        return directory.stays[came]
