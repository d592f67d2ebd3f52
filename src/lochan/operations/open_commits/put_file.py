# SPDX-License-Identifier: Apache-2.0
"""Put a stream into a file of an open commit: its blocks first, then their row, by a swap.

A stream that fails, or a caller that dies, leaves blocks that nobody names. Puts to one path come
one after the other in the order of their swaps, and the blocks of one put stay together.
"""

from enum import StrEnum

from lochan.errors import Conflict
from lochan.kv.table import Table
from lochan.model.codec import decode_staged_entry, encode_staged_entry
from lochan.model.ids import ObjectKey, OpenCommitId
from lochan.model.keys import STAGED, token_partition
from lochan.model.records import OpenCommit, Repository, StagedEntry
from lochan.objects.store import Body
from lochan.operations.lake import Lake
from lochan.operations.open_commits.blocks import BLOCK_BYTES, store_blocks
from lochan.operations.open_commits.file_change import FileChange
from lochan.operations.open_commits.file_view import FileView, directories_of, valid_file_path
from lochan.operations.open_commits.staged_change import puts_in, row_after
from lochan.operations.open_commits.writing import require_open, write_open


class Mode(StrEnum):
    """What a put does to a file that is there: the seed appends."""

    APPEND = "append"
    OVERWRITE = "overwrite"


def put_file(
    lake: Lake,
    repository: Repository,
    open_id: OpenCommitId,
    path: str | bytes,
    body: Body,
    *,
    mode: Mode = Mode.APPEND,
    block_bytes: int = BLOCK_BYTES,
) -> None:
    """Append a stream to a file, which need not be there yet.

    Raises: NotFound, Conflict (code not-open) for the commit; InvalidInput for the path; Conflict
    (code file-and-directory) where the path is a directory, or lies under a file; what the stream
    raises; UnknownOutcome.
    """
    key = valid_file_path(path)
    require_place(FileView(lake, repository, require_open(lake, repository, open_id)), key)
    blocks = store_blocks(lake, repository, key, body, block_bytes)
    change = FileChange(mode is Mode.OVERWRITE, blocks)
    put = lake.environment.new_id()

    def write(opened: OpenCommit) -> None:
        _rows(lake, opened).update(
            key,
            lambda row: row_after(row, key, put, change, open_id),
            lake.environment,
            landed=lambda row: True if put in puts_in(row) else None,
        )

    write_open(lake, repository, open_id, write)


def _rows(lake: Lake, opened: OpenCommit) -> Table[StagedEntry]:
    partition = token_partition(opened.staging_token)
    return Table(lake.store, partition, STAGED, encode_staged_entry, decode_staged_entry)


def require_place(view: FileView, key: ObjectKey) -> None:
    """Refuse a path that is a directory, or lies under a file. Raises Conflict."""
    above = next((path for path in directories_of(key) if view.find(path) is not None), None)
    if above is not None:
        raise file_and_directory(above)
    if view.is_directory(key):
        raise file_and_directory(key)


def file_and_directory(path: bytes) -> Conflict:
    """Make the error for a path that would be both."""
    shown = path.decode(errors="replace")
    message = f"{shown!r} cannot be a file and a directory; delete one of them first"
    return Conflict(message, code="file-and-directory", path=path)
