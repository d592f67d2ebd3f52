# SPDX-License-Identifier: Apache-2.0
"""What a file is at a commit, or what came to it since another commit; and its bytes.

Two look-ups: the file at `to_commit` and at `from_commit`. If it is the same file, by its epoch,
and goes on from what it was then, what came since are the blocks that it had not; else all of it
came since (I2). Deletions need no search: a file that was deleted and put again has another epoch.
What came and was reverted in between does not show.
"""

from dataclasses import dataclass
from enum import StrEnum

from lochan.errors import InvalidInput, NotFound
from lochan.model.entry import Entry, entry_of_blocks, identity
from lochan.model.ids import ObjectKey
from lochan.model.records import Commit, OpenCommit, Repository
from lochan.objects.store import Reading
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import any_commit
from lochan.operations.open_commits.file_change import shared_blocks
from lochan.operations.open_commits.file_view import FileView, valid_file_path
from lochan.operations.read_entry import read_entry
from lochan.refs.commits import get_commit
from lochan.refs.kinship import Kinship


class FileKind(StrEnum):
    """What a path is."""

    FILE = "file"
    DIRECTORY = "directory"


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A path of a commit; `entry` holds the blocks that are asked about, none of a directory."""

    path: ObjectKey
    kind: FileKind
    size: int = 0
    entry: Entry | None = None


def inspect_file(
    lake: Lake,
    repository: Repository,
    path: str | bytes,
    to_commit: str,
    from_commit: str | None = None,
) -> FileInfo:
    """Describe a path at a commit, counting what came to it after `from_commit`.

    Commits are named by hash, number, or an open commit's id. Raises: NotFound, for a commit, a
    path that is not there, or one to which nothing came; InvalidInput.
    """
    key = valid_file_path(path)
    to = any_commit(lake, repository, to_commit)
    view = FileView(lake, repository, to)
    found = view.find(key)
    if found is None:
        if view.is_directory(key):
            return FileInfo(key, FileKind.DIRECTORY)
        raise _nothing(key, f"at {to_commit}")
    if from_commit is not None:
        since = any_commit(lake, repository, from_commit)
        earlier = FileView(lake, repository, since).find(key)
        found = found if earlier is None else _since(earlier, found)
        if found is None or _is_behind(lake, repository, to, since):
            raise _nothing(key, f"after {from_commit}, up to {to_commit}")
    return FileInfo(key, FileKind.FILE, found.size, found)


def get_file(
    lake: Lake,
    repository: Repository,
    path: str | bytes,
    to_commit: str,
    from_commit: str | None = None,
) -> Reading:
    """Read what `inspect_file` describes; the first block is sent before the second is opened.

    Raises: what `inspect_file` raises; InvalidInput for a directory.
    """
    found = inspect_file(lake, repository, path, to_commit, from_commit)
    if found.entry is None:
        raise InvalidInput(f"{path!r} is a directory; list it", code="is-a-directory")
    return read_entry(lake, repository, found.entry)


def _is_behind(
    lake: Lake, repository: Repository, to: Commit | OpenCommit, since: Commit | OpenCommit
) -> bool:
    """Say whether nothing can have come, since `to` was there first."""
    if isinstance(to, OpenCommit):
        return False
    if isinstance(since, OpenCommit):
        if not since.parent:
            return False
        since = get_commit(lake.tables(repository), since.parent)
    return Kinship.of(lake.store, repository).is_ancestor(to, since, or_self=True)


def _since(earlier: Entry, later: Entry) -> Entry | None:
    if identity(earlier) == identity(later):
        return None
    kept = shared_blocks(earlier, later)
    if kept is None or later.epoch is None:
        return later
    if kept == len(later.blocks):
        return None
    return entry_of_blocks(
        later.blocks[kept:],
        later.epoch,
        last_modified=later.last_modified,
        metadata=later.metadata,
        content_type=later.content_type,
    )


def _nothing(key: ObjectKey, where: str) -> NotFound:
    shown = key.decode(errors="replace")
    return NotFound(f"there is nothing of file {shown!r} {where}", code="file-not-found", path=key)
