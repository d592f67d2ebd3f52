# SPDX-License-Identifier: Apache-2.0
"""What a commit shows of its files: a tree, and for an open commit its own changes over it.

Directories are not stored: a path is a directory where other paths lie under it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lochan.committed.cursor import Cursor
from lochan.committed.listing import Prefix, list_records
from lochan.errors import Conflict, InvalidInput
from lochan.kernel.records import Record
from lochan.model.codec import decode_entry
from lochan.model.entry import Block, Entry
from lochan.model.ids import EMPTY_TREE, MetaRangeId, ObjectKey, valid_object_key
from lochan.model.records import Commit, OpenCommit, Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.open_commits.file_change import applied
from lochan.operations.open_commits.staged_change import change_of, provisional_epoch
from lochan.refs.open_commits import State, state_of

SEPARATOR = b"/"


class File(NamedTuple):
    """A path that is a file."""

    key: bytes
    entry: Entry


def valid_file_path(path: str | bytes) -> ObjectKey:
    """Accept a file's path: names joined by single slashes. Raises InvalidInput."""
    key = valid_object_key(path)
    if not all(key.split(SEPARATOR)):
        message = f"{path!r} is not a file's path: write names with one slash between them"
        raise InvalidInput(message, code="invalid-file-path", value=path)
    return key


def directories_of(key: bytes) -> Iterator[bytes]:
    """Give the directories that a path lies in, outermost first."""
    place = key.find(SEPARATOR)
    while place >= 0:
        yield key[:place]
        place = key.find(SEPARATOR, place + 1)


class FileView:
    """The files of one commit."""

    def __init__(self, lake: Lake, repository: Repository, commit: Commit | OpenCommit) -> None:
        """Look at a commit as it is; an open one may change while it is looked at.

        Raises: Conflict, code commit-failed, for one whose files are gone.
        """
        if isinstance(commit, OpenCommit) and state_of(commit) is State.FAILED:
            message = (
                f"commit {commit.id} has failed: {commit.error}; its files are gone, so start"
                " another one and put them again"
            )
            raise Conflict(message, code="commit-failed", open_commit=commit.id)
        self._lake = lake
        self._snapshots = lake.storage(repository.storage_namespace).snapshots
        self._opened = commit if isinstance(commit, OpenCommit) else None
        self._tree = tree_of(lake, repository, commit)

    def find(self, key: bytes) -> Entry | None:
        """Give the file at a path, if there is one."""
        found = self._snapshots.get(self._tree, key)
        below = None if found is None else decode_entry(found.value)
        if self._opened is None:
            return below
        staged = self._lake.staging.find(self._opened.staging_token, key)
        return below if staged is None else _overlaid(below, staged[0], self._opened)

    def is_directory(self, key: bytes) -> bool:
        """Say whether anything lies under a path; the root is the empty one."""
        return next(self.under(key), None) is not None or not key

    def children(self, directory: bytes, after: bytes = b"") -> Iterator[File | Prefix]:
        """Give what lies directly in a directory, in key order; directories as prefixes."""
        return list_records(self._walk(), _inside(directory), after=after, delimiter=SEPARATOR)

    def under(self, directory: bytes) -> Iterator[File]:
        """Give every file below a directory, in key order."""
        found = list_records(self._walk(), _inside(directory))
        return (item for item in found if isinstance(item, File))

    def _walk(self) -> "_Walk":
        return _Walk(self._lake, self._snapshots.cursor(self._tree), self._opened)


def tree_of(lake: Lake, repository: Repository, commit: Commit | OpenCommit) -> MetaRangeId:
    """Name a commit's tree; of an open one, the tree below its own changes."""
    if isinstance(commit, Commit):
        return commit.meta_range_id
    return lake.commits.tree(repository, commit.parent) if commit.parent else EMPTY_TREE


def _inside(directory: bytes) -> bytes:
    return directory + SEPARATOR if directory else b""


def _overlaid(below: Entry | None, row: StagedEntry, opened: OpenCommit) -> Entry | None:
    epoch = provisional_epoch(opened.id)
    return applied(below, change_of(row), epoch, opened.started, _unread)


def _unread(plain: Entry) -> Block:
    """Take an object as a block without its hash, which only a finished commit needs."""
    return Block(plain.address, 0, plain.size, b"")


class _Walk:
    """The files of a commit in key order, over a tree and an open commit's rows; seek first."""

    def __init__(self, lake: Lake, below: Cursor, opened: OpenCommit | None) -> None:
        self._lake = lake
        self._cursor = below
        self._opened = opened

    def seek(self, key: bytes) -> None:
        self._cursor.seek(key)
        self._below: Record | None = self._cursor.next()
        token = self._opened.staging_token if self._opened else None
        self._rows = self._lake.staging.scan(token, key) if token else iter(())
        self._above: StagedEntry | None = next(self._rows, None)

    def next(self) -> File | None:
        """Give the next file; a staged row stands over the file of its path."""
        while True:
            above, below = self._above, self._below
            if above is None or (below is not None and below.key < above.key):
                self._below = self._cursor.next() if below is not None else None
                return None if below is None else File(below.key, decode_entry(below.value))
            entry = None
            if below is not None and below.key == above.key:
                entry = decode_entry(below.value)
                self._below = self._cursor.next()
            self._above = next(self._rows, None)
            if self._opened is not None:
                entry = _overlaid(entry, above, self._opened)
            if entry is not None:
                return File(above.key, entry)
