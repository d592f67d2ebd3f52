# SPDX-License-Identifier: Apache-2.0
"""What a commit does to one file: take away what was there, or not, and append pieces.

This is the seed's Append, with what its blockrefs stand for. Changes are told from two versions of
a file (`change_between`), put one after the other (`then`) or beside each other (`beside`), and
applied to the version below (`applied`).

Versions of one file share their epoch, and one begins with the blocks of the other. A plain object
has no epoch. Appending to it makes it the first block, so a file that begins with the very object
is a later version of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

from lochan.model.entry import Block, Entry, entry_of_blocks, identity
from lochan.model.instant import Instant
from lochan.model.records import Clock

# An entry among pieces is a plain object, whole.
Piece = Block | Entry
AsBlock = Callable[[Entry], Block]


@dataclass(frozen=True, slots=True)
class FileChange:
    """`delete`: what was there goes first. `is_file`: the path is a file afterwards."""

    delete: bool = False
    pieces: tuple[Piece, ...] = ()
    is_file: bool = True

    def then(self, later: "FileChange") -> "FileChange":
        """Give the change that is this one and then another."""
        if later.delete:
            return later
        return FileChange(self.delete, self.pieces + later.pieces)

    def beside(self, other: "FileChange") -> "FileChange":
        """Give the change that is this one and, of the same version, another (M5).

        Appends come one after the other; a deletion is of what was below, not of the other's.
        """
        return FileChange(
            self.delete or other.delete,
            self.pieces + other.pieces,
            self.is_file or other.is_file,
        )


DELETED = FileChange(delete=True, is_file=False)
UNCHANGED = FileChange()  # of a file that is there; where none is, it makes an empty one


def is_plain(entry: Entry) -> bool:
    """Say whether an entry is an object that was put whole."""
    return entry.epoch is None


def shared_blocks(earlier: Entry, later: Entry) -> int | None:
    """Count the blocks that a file had in an earlier version; None if that was another file."""
    if is_plain(later):
        return None
    if is_plain(earlier):
        first = later.blocks[0] if later.blocks else None
        grown = first is not None and (first.address, first.size) == (earlier.address, earlier.size)
        return 1 if grown else None
    if earlier.epoch != later.epoch:
        return None
    pairs = zip(earlier.blocks, later.blocks, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].hash == pair[1].hash, pairs))


def change_between(left: Entry | None, right: Entry | None) -> FileChange:
    """Say what a commit did to a file; an object put whole takes away what was there."""
    if right is None:
        return DELETED
    if is_plain(right):
        return FileChange(left is not None, (right,))
    kept = None if left is None else shared_blocks(left, right)
    if kept is not None:
        return FileChange(pieces=right.blocks[kept:])
    return FileChange(left is not None, right.blocks)


def applied(
    below: Entry | None, change: FileChange, epoch: Clock, now: Instant, as_block: AsBlock
) -> Entry | None:
    """Give the file after a change; None where there is none. `epoch` is for one that is new."""
    if not change.is_file:
        return None
    kept = None if change.delete else below
    if not change.pieces and kept is not None:
        return kept
    only = change.pieces[0] if len(change.pieces) == 1 and kept is None else None
    if isinstance(only, Entry):
        return only
    pieces = (*_pieces(kept), *change.pieces)
    blocks = [as_block(piece) if isinstance(piece, Entry) else piece for piece in pieces]
    if kept is None:
        return entry_of_blocks(blocks, epoch, last_modified=now)
    return entry_of_blocks(
        blocks,
        kept.epoch or epoch,
        last_modified=now,
        metadata=kept.metadata,
        content_type=kept.content_type,
    )


def _pieces(kept: Entry | None) -> tuple[Piece, ...]:
    if kept is None:
        return ()
    return (kept,) if is_plain(kept) else kept.blocks


def holds(below: Entry, wanted: Entry) -> bool:
    """Say whether a file is a version already, or a later one of it."""
    if identity(below) == identity(wanted):
        return True
    shared = shared_blocks(wanted, below)
    return shared is not None and shared >= len(_pieces(wanted))
