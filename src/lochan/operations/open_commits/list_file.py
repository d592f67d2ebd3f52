# SPDX-License-Identifier: Apache-2.0
"""List what lies directly in a directory of a commit: files and directories, in key order."""

from collections.abc import Iterator

from lochan.committed.listing import Prefix
from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import ObjectKey
from lochan.model.records import Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import any_commit
from lochan.operations.open_commits.file_view import (
    SEPARATOR,
    File,
    FileView,
    valid_file_path,
)
from lochan.operations.open_commits.inspect_file import FileInfo, FileKind


def list_file(
    lake: Lake, repository: Repository, path: str | bytes, commit: str, *, after: bytes = b""
) -> Iterator[FileInfo]:
    """Give the children of a directory; the empty path is the root, which is always there.

    With `after` it goes on behind a child: a file's path, or a directory's with a slash behind it.
    Raises: NotFound for the commit or the directory; InvalidInput for a file.
    """
    directory = valid_file_path(path) if path else ObjectKey(b"")
    view = FileView(lake, repository, any_commit(lake, repository, commit))
    if not view.is_directory(directory):
        if view.find(directory) is not None:
            raise InvalidInput(f"{path!r} is a file; inspect it", code="is-a-file")
        raise NotFound(f"there is no directory {path!r} at {commit}", code="file-not-found")
    return map(_described, view.children(directory, after))


def _described(child: File | Prefix) -> FileInfo:
    if isinstance(child, Prefix):
        return FileInfo(ObjectKey(child.prefix.removesuffix(SEPARATOR)), FileKind.DIRECTORY)
    return FileInfo(ObjectKey(child.key), FileKind.FILE, child.entry.size, child.entry)
