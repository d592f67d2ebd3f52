# SPDX-License-Identifier: Apache-2.0
"""What a commit does to one file: take away what was there, or some of it, and append pieces.

This is the seed's Append, with what its blockrefs stand for. Changes are put one after the other
(`then`) or beside each other (`beside`), and applied to the version below (`applied`). What a
commit did is told from two versions of a file by `change_between`, in the words of the seed's rows;
what that means for yet another version, by `change_since`.

Versions of one file share their epoch. Mostly one begins with the blocks of the other; but a revert
takes blocks away, and a merge that prefers one side has others. A plain object has no epoch.
Appending to it makes it the first block, so a file that begins with the very object is a later
version of it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from lochan.model.entry import Block, Entry, entry_of_blocks, identity
from lochan.model.instant import Instant
from lochan.model.records import Clock

# An entry among pieces is a plain object, whole.
Piece = Block | Entry
AsBlock = Callable[[Entry], Block]
Mark = bytes | str


@dataclass(frozen=True, slots=True)
class FileChange:
    """What was there goes, or of it what is `taken`; then pieces are appended."""

    delete: bool = False
    pieces: tuple[Piece, ...] = ()
    is_file: bool = True  # the path is a file afterwards
    taken: tuple[Piece, ...] = ()
    begins: Clock | str | None = None  # which file the pieces are the beginning of
    creates: bool = True  # where nothing is, or is left, there is an empty file

    def then(self, later: "FileChange") -> "FileChange":
        """Give the change that is this one and then another, neither of which takes blocks."""
        if later.delete:
            return later
        return FileChange(self.delete, self.pieces + later.pieces)


DELETED = FileChange(delete=True, is_file=False, creates=False)
UNCHANGED = FileChange()  # of a file that is there; where none is, it makes an empty one


def beside(changes: Iterable[FileChange]) -> FileChange:
    """Give the change that is several, all of the same version, in their order (M5).

    Appends come one after the other; what is deleted or taken is of what was below, not of the
    others'. Several that begin with versions of one file, which they brought back, bring once what
    these share (M4).
    """
    both = FileChange(is_file=False, creates=False)
    begun: dict[Clock | str, tuple[Piece, ...]] = {}
    for change in changes:
        pieces = change.pieces
        if change.begins is not None:
            known = begun.get(change.begins, ())
            pieces = pieces[shared_beginning(known, pieces) :]
            begun[change.begins] = known + pieces
        both = FileChange(
            both.delete or change.delete,
            both.pieces + pieces,
            both.is_file or change.is_file,
            both.taken + without(change.taken, both.taken),
            creates=both.creates or change.creates,
        )
    return both


def is_plain(entry: Entry) -> bool:
    """Say whether an entry is an object that was put whole."""
    return entry.epoch is None


def is_same_file(one: Entry, other: Entry) -> bool:
    """Say whether two entries are versions of one file."""
    if is_plain(one) and is_plain(other):
        return identity(one) == identity(other)
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
    begins = right.address if is_plain(right) else right.epoch
    return FileChange(left is not None, pieces_of(right), begins=begins)


def applied(
    below: Entry | None, change: FileChange, epoch: Clock, now: Instant, as_block: AsBlock
) -> Entry | None:
    """Give the file after a change; None where there is none. `epoch` is for one that is new."""
    if not change.is_file:
        return None
    kept = None if change.delete else below
    there = () if kept is None else pieces_of(kept)
    left = without(there, change.taken)
    if kept is not None and not change.pieces and len(left) == len(there):
        return kept
    if not left and not change.pieces and not change.creates:
        return None
    only = change.pieces[0] if len(change.pieces) == 1 and kept is None else None
    if isinstance(only, Entry):
        return only
    pieces = (*left, *change.pieces)
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


def pieces_of(entry: Entry) -> tuple[Piece, ...]:
    """Give what a file is made of."""
    return (entry,) if is_plain(entry) else entry.blocks


def shared_beginning(one: Sequence[Piece], other: Sequence[Piece]) -> int:
    """Count the pieces that two lists begin with."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: _mark(pair[0]) == _mark(pair[1]), pairs))


def without(pieces: Sequence[Piece], gone: Iterable[Piece]) -> tuple[Piece, ...]:
    """Leave pieces out, once for each time that they are gone, the last ones first.

    An object that was put whole has become a block where something was appended to it.
    """
    marks = Counter[Mark](map(_mark, gone))
    left: list[Piece] = []
    for piece in reversed(pieces):
        mark = _mark(piece) if marks[_mark(piece)] else piece.address
        if marks[mark]:
            marks[mark] -= 1
        else:
            left.append(piece)
    return tuple(reversed(left))


def _mark(piece: Piece) -> Mark:
    return piece.hash if isinstance(piece, Block) else piece.address
