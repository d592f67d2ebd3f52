# SPDX-License-Identifier: Apache-2.0
"""How a change of a file is staged under an open commit's token.

A row says what happens to the file below, whatever that is when the commit is finished:

    no identity                the file goes
    blocks, no epoch           the blocks are appended to what is there
    blocks, epoch (id, 0)      the file begins anew with these blocks; id is the open commit's
    an address, no blocks      the file is that object, put whole; its metadata is its own

Of blocks the metadata's keys are the ids of the puts that made the row, so that a put whose answer
was lost finds out whether it is in (H15). Real epochs, and real metadata, come when the commit is
finished.
"""

import msgspec

from lochan.errors import Conflict
from lochan.model.codec import decode_entry, encode_entry
from lochan.model.entry import Block, Entry, entry_of_blocks, identity
from lochan.model.ids import LineageId, OpenCommitId
from lochan.model.instant import EPOCH
from lochan.model.records import Clock, StagedEntry
from lochan.operations.open_commits.file_change import DELETED, UNCHANGED, FileChange


def provisional_epoch(open_id: OpenCommitId) -> Clock:
    """Give the epoch of a file that an open commit creates, until it has a clock."""
    return Clock(LineageId(open_id), 0)


def change_of(row: StagedEntry | None) -> FileChange:
    """Read what a row says; no row changes nothing."""
    if row is None:
        return UNCHANGED
    if row.is_tombstone:
        return DELETED
    staged = _entry(row)
    if _is_whole(staged):
        return FileChange(delete=True, pieces=(staged,))
    return FileChange(staged.epoch is not None, staged.blocks)


def puts_in(row: StagedEntry | None) -> frozenset[str]:
    """Name the puts that made a row."""
    return frozenset(_puts(row))


def row_after(
    row: StagedEntry | None, key: bytes, put: str, change: FileChange, open_id: OpenCommitId
) -> StagedEntry:
    """Give a path's row after one more put, which has an id of its own.

    Raises Conflict, code file-linked: a row holds an object put whole, or blocks.
    """
    both = change_of(row).then(change)
    if any(isinstance(piece, Entry) for piece in both.pieces):
        message = f"{key!r} was linked in this commit; finish it before appending to the file"
        raise Conflict(message, code="file-linked", path=key)
    blocks = [piece for piece in both.pieces if isinstance(piece, Block)]
    entry = entry_of_blocks(blocks, provisional_epoch(open_id), last_modified=EPOCH)
    entry = msgspec.structs.replace(
        entry,
        epoch=entry.epoch if both.delete else None,
        metadata={put: ""} if change.delete else {**_puts(row), put: ""},
    )
    return StagedEntry(key, identity(entry), encode_entry(entry))


def whole_row(key: bytes, entry: Entry) -> StagedEntry:
    """Give the row of a file that is an object put whole, whatever was there."""
    return StagedEntry(key, identity(entry), encode_entry(entry))


def _puts(row: StagedEntry | None) -> dict[str, str]:
    if row is None or row.is_tombstone:
        return {}
    staged = _entry(row)
    return {} if _is_whole(staged) else dict(staged.metadata)


def _is_whole(staged: Entry) -> bool:
    return bool(staged.address) and not staged.blocks


def _entry(row: StagedEntry) -> Entry:
    return decode_entry(row.data, where=f"the staged row of {row.key!r}")
