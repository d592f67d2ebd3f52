# SPDX-License-Identifier: Apache-2.0
"""Which piece of one version of a file is which of another.

Blocks are told apart by their content alone, and a file may hold equal ones. Versions keep their
order: what is taken away leaves the rest as it was, and what comes goes to the end. So pieces of
two versions are the same where as many as possible are, in order; among equal ones, the first.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Final

from lochan.model.entry import Block, Entry

# An entry among pieces is a plain object, whole.
Piece = Block | Entry
Mark = bytes | str | tuple[str, int]

_TABLE: Final = 4_000_000  # pairs that are compared at most; beyond that the first fit is taken


def marks_of(versions: Iterable[Sequence[Piece]]) -> Callable[[Piece], Mark]:
    """Say what tells pieces of these versions apart.

    An object that was put whole has become a block where something was appended to it.
    """
    pieces = [piece for version in versions for piece in version]
    hashes: dict[Mark, bytes] = {
        (piece.address, piece.size): piece.hash
        for piece in pieces
        if isinstance(piece, Block) and not piece.offset
    }
    for piece in pieces:
        if isinstance(piece, Entry) and (piece.address, piece.size) in hashes:
            hashes[_content(piece)] = hashes[piece.address, piece.size]

    def mark(piece: Piece) -> Mark:
        if isinstance(piece, Block):
            return piece.hash
        there = hashes.get((piece.address, piece.size))
        return there or hashes.get(_content(piece)) or _content(piece)

    return mark


def _content(plain: Entry) -> Mark:
    return f"{plain.e_tag}-{plain.size}" if plain.e_tag else plain.address


def aligned(before: Sequence[Mark], after: Sequence[Mark]) -> dict[int, int]:
    """Say for each place of one list that is in the other, too, which one it is there."""
    same = _beginning(before, after)
    found = {place: place for place in range(same)}
    shared = set(before[same:]) & set(after[same:])
    ones = [place for place in range(same, len(before)) if before[place] in shared]
    others = [place for place in range(same, len(after)) if after[place] in shared]
    left, right = [before[place] for place in ones], [after[place] for place in others]
    again = _beginning(left, right)  # most often all, where no blocks are equal
    found.update(zip(ones[:again], others[:again], strict=True))
    ones, others, left, right = ones[again:], others[again:], left[again:], right[again:]
    rest = _longest if len(left) * len(right) <= _TABLE else _first_fit
    found.update((ones[one], others[other]) for one, other in rest(left, right))
    return found


def _beginning(one: Sequence[Mark], other: Sequence[Mark]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _longest(before: Sequence[Mark], after: Sequence[Mark]) -> Iterable[tuple[int, int]]:
    """Give the pairs of a longest common subsequence."""
    width = len(after) + 1
    lengths = [[0] * width for _ in range(len(before) + 1)]
    for one in reversed(range(len(before))):
        row, below = lengths[one], lengths[one + 1]
        for other in reversed(range(len(after))):
            equal = before[one] == after[other]
            row[other] = below[other + 1] + 1 if equal else max(below[other], row[other + 1])
    one = other = 0
    while one < len(before) and other < len(after):
        if before[one] == after[other]:
            yield one, other
            one, other = one + 1, other + 1
        elif lengths[one + 1][other] >= lengths[one][other + 1]:
            one += 1
        else:
            other += 1


def _first_fit(before: Sequence[Mark], after: Sequence[Mark]) -> Iterable[tuple[int, int]]:
    """Give for each piece, in order, the next one that is equal."""
    places: dict[Mark, list[int]] = {}
    for place in reversed(range(len(before))):
        places.setdefault(before[place], []).append(place)
    passed = -1
    for other, mark in enumerate(after):
        waiting = places.get(mark, [])
        while waiting and waiting[-1] <= passed:
            waiting.pop()
        if waiting:
            passed = waiting.pop()
            yield passed, other
