# SPDX-License-Identifier: Apache-2.0
"""What a commit did to a file, to be done to another version of it.

The commit is compared with one that the target has, too, or with several: after a criss-cross there
is no last one. Whatever is in any of them has come to the target, which may have taken it away
again. So of the file's blocks those that none of them has are new, and are appended; and those that
one of them has and the commit has not are taken from the target, if they are there. Blocks that
only the target has stay where they are.

A file that none of them has, or another one under its path, is brought whole; unless the target has
brought it back as well, which then lacks only what is new in it. Where one has it and one has
another, the target tells which of the two it went on with: if with the other, the commit decided
against that one.
"""

from collections.abc import Callable, Sequence
from functools import partial

from lochan.model.entry import Block, Entry
from lochan.operations.open_commits.file_change import (
    FileChange,
    Piece,
    change_between,
    is_plain,
    is_same_file,
    pieces_of,
    without,
)

# Says how a file changes, given what it is below the change.
Decide = Callable[[Entry | None], FileChange]


def always(change: FileChange) -> Decide:
    """Decide on a change whatever is below."""
    return lambda _: change


def change_since(earlier: Sequence[Entry | None], right: Entry | None) -> Decide:
    """Decide on what led to `right` from the versions that the target has behind it."""
    same = [version for version in earlier if _is_same(version, right)]
    others = [version for version in earlier if version and not _is_same(version, right)]
    anew = change_between(others[0] if others else None, right)
    if not same:
        return partial(_begun, anew, right)
    grown = _grown([version for version in same if version], others, right)

    def decide(below: Entry | None) -> FileChange:
        went_on_with_other = below is not None and any(is_same_file(below, it) for it in others)
        return anew if went_on_with_other and not _is_same(below, right) else grown

    return decide if others else always(grown)


def _begun(anew: FileChange, right: Entry | None, below: Entry | None) -> FileChange:
    if right is None or below is None or not is_same_file(below, right):
        return anew
    there, now = _blocks([below, right])
    return FileChange(pieces=without(now, there), creates=False)


def _is_same(one: Entry | None, other: Entry | None) -> bool:
    if one is None or other is None:
        return one is other
    return is_same_file(one, other)


def _grown(same: Sequence[Entry], others: Sequence[Entry], right: Entry | None) -> FileChange:
    """Give what is new in a version of the same file, and what is not there any more.

    The file may not be there, as in one of the earlier versions.
    """
    *known, now = _blocks([*same, right]) if right else [(), ()]
    taken, pieces = min(
        (_parted(blocks, now) for blocks in known), key=lambda each: (len(each[1]), len(each[0]))
    )
    behind = without(now, pieces) + taken  # the blocks of the version that it is nearest to
    for blocks in (*known, *map(pieces_of, others)):
        more = without(blocks, behind)
        taken += without(more, now)
        pieces = without(pieces, more)
        behind += more
    return FileChange(pieces=pieces, taken=taken, creates=right is not None and not now)


def _blocks(versions: Sequence[Entry]) -> list[tuple[Piece, ...]]:
    """Give the blocks of versions of one file; one that is whole is the first block of others."""
    grown = next((version for version in versions if not is_plain(version)), None)
    if grown is None:
        return [pieces_of(version) for version in versions]
    return [grown.blocks[:1] if is_plain(version) else version.blocks for version in versions]


def _parted(
    before: Sequence[Piece], after: Sequence[Piece]
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Say what must be left out of one list so that the other goes on from it, and with what."""
    taken: list[Piece] = []
    place = 0
    for number, piece in enumerate(after):
        found = next((n for n in range(place, len(before)) if _equal(before[n], piece)), None)
        if found is None:
            return (*taken, *before[place:]), tuple(after[number:])
        taken.extend(before[place:found])
        place = found + 1
    return (*taken, *before[place:]), ()


def _equal(one: Piece, other: Piece) -> bool:
    if isinstance(one, Block) and isinstance(other, Block):
        return one.hash == other.hash
    return one.address == other.address
