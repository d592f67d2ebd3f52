# SPDX-License-Identifier: Apache-2.0
"""Delete a file, or all that lies under a directory, in an open commit.

A tombstone is written whether the file is there or not: a commit that follows its branch is
finished on a head that may have got the file meanwhile.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lochan.model.ids import ObjectKey, OpenCommitId
from lochan.model.records import OpenCommit, Repository, StagedEntry
from lochan.operations.lake import Lake
from lochan.operations.open_commits.file_view import FileView, valid_file_path
from lochan.operations.open_commits.writing import write_open

_AT_ONCE: Final = 10_000


def delete_file(
    lake: Lake, repository: Repository, open_id: OpenCommitId, path: str | bytes
) -> None:
    """Remove a path from an open commit. Idempotent; an absent path is no error.

    Raises: NotFound, Conflict (code not-open) for the commit; InvalidInput for the path.
    """
    key = valid_file_path(path)

    def write(opened: OpenCommit) -> None:
        tombstones = _tombstones(FileView(lake, repository, opened), key)
        while rows := list(islice(tombstones, _AT_ONCE)):
            lake.staging.set_many(opened.staging_token, rows)

    write_open(lake, repository, open_id, write)


def _tombstones(view: FileView, key: ObjectKey) -> Iterator[StagedEntry]:
    yield StagedEntry(key)
    for file in view.under(key):
        yield StagedEntry(file.key)
