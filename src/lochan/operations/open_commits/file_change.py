# SPDX-License-Identifier: Apache-2.0
"""What a commit does to one file: take away what was there, or some of it, and append pieces.

This is the seed's Append, with what its blockrefs stand for. Changes are put one after the other
(`then`), and applied to the version below (`applied`). What a commit did is told from two versions
of a file by `change_between`, in the words of the seed's rows; what commits do to yet another
version, by `merged`.

Versions of one file share their epoch. Mostly one begins with the blocks of the other; but a revert
takes blocks away, and a merge that prefers one side has others. A plain object has no epoch: the
same bytes are the same file, whatever is said of them. Appending to it makes it the first block, so
a file that begins with the very object is a later version of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

import msgspec

from lochan.model.entry import DEFAULT_CONTENT_TYPE, Block, Entry, entry_of_blocks
from lochan.model.instant import Instant
from lochan.model.records import Clock
from lochan.operations.open_commits.alignment import Piece

AsBlock = Callable[[Entry], Block]


class Properties(NamedTuple):
    """What is said of a file, beside its bytes."""

    metadata: Mapping[str, str]
    content_type: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """What was there goes, or of it the pieces at some places; then pieces are appended."""

    delete: bool = False
    pieces: tuple[Piece, ...] = ()
    is_file: bool = True  # the path is a file afterwards
    gone: frozenset[int] = frozenset()
    creates: bool = True  # where nothing is, or is left, there is an empty file
    properties: Properties | None = None  # None: they stay as they are

    def then(self, later: "FileChange") -> "FileChange":
        """Give the change that is this one and then another, both as puts and deletions are."""
        if later.delete:
            return later
        return FileChange(self.delete, self.pieces + later.pieces)


DELETED = FileChange(delete=True, is_file=False, creates=False)
UNCHANGED = FileChange()  # of a file that is there; where none is, it makes an empty one

# Says how a file changes, given what it is below the change.
Decide = Callable[[Entry | None], FileChange]


UNSAID = Properties({}, DEFAULT_CONTENT_TYPE)


def always(change: FileChange) -> Decide:
    """Decide on a change whatever is below."""
    return lambda _: change


def is_plain(entry: Entry) -> bool:
    """Say whether an entry is an object that was put whole."""
    return entry.epoch is None


def is_same_file(one: Entry, other: Entry) -> bool:
    """Say whether two entries are versions of one file."""
    if is_plain(one) and is_plain(other):
        tags = {one.e_tag, other.e_tag}
        same = one.address == other.address or (len(tags) == 1 and tags != {""})
        return same and one.size == other.size
    if is_plain(one) or is_plain(other):
        plain, grown = (one, other) if is_plain(one) else (other, one)
        first = grown.blocks[0] if grown.blocks else None
        return first is not None and (first.address, first.size) == (plain.address, plain.size)
    return one.epoch == other.epoch


def shared_blocks(earlier: Entry, later: Entry) -> int | None:
    """Count the blocks of an earlier version that a file goes on from; None if it does not."""
    if is_plain(later) or not is_same_file(earlier, later):
        return None
    if is_plain(earlier):
        return 1
    shared = shared_beginning(earlier.blocks, later.blocks)
    return shared if shared == len(earlier.blocks) else None


def change_between(left: Entry | None, right: Entry | None) -> FileChange:
    """Say what a commit did to a file, as the seed can: it went on, or went and began anew."""
    if right is None:
        return DELETED
    kept = None if left is None else shared_blocks(left, right)
    if kept is not None:
        return FileChange(pieces=right.blocks[kept:], creates=False)
    return FileChange(left is not None, pieces_of(right))


def applied(
    below: Entry | None, change: FileChange, epoch: Clock, now: Instant, as_block: AsBlock
) -> Entry | None:
    """Give the file after a change; None where there is none. `epoch` is for one that is new."""
    if not change.is_file:
        return None
    kept = None if change.delete else below
    there = () if kept is None else pieces_of(kept)
    if kept is not None and not change.pieces and not change.gone:
        return _said(kept, change.properties)
    left = [piece for place, piece in enumerate(there) if place not in change.gone]
    if not left and not change.pieces and not change.creates:
        return None
    only = change.pieces[0] if len(change.pieces) == 1 and kept is None else None
    if isinstance(only, Entry):
        return _said(only, change.properties)
    pieces = (*left, *change.pieces)
    blocks = [as_block(piece) if isinstance(piece, Entry) else piece for piece in pieces]
    said = change.properties or (properties_of(kept) if kept else UNSAID)
    return entry_of_blocks(
        blocks,
        (kept and kept.epoch) or epoch,
        last_modified=now,
        metadata=said.metadata,
        content_type=said.content_type,
    )


def _said(entry: Entry, properties: Properties | None) -> Entry:
    return entry if properties is None else msgspec.structs.replace(entry, **properties._asdict())


def properties_of(entry: Entry) -> Properties:
    """Give what is said of a file."""
    return Properties(entry.metadata, entry.content_type)


def pieces_of(entry: Entry) -> tuple[Piece, ...]:
    """Give what a file is made of."""
    return (entry,) if is_plain(entry) else entry.blocks


def shared_beginning(one: Sequence[Block], other: Sequence[Block]) -> int:
    """Count the blocks that two lists begin with."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].hash == pair[1].hash, pairs))
