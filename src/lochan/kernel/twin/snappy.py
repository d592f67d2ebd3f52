# SPDX-License-Identifier: Apache-2.0
"""Raw snappy: literals and copies behind a uvarint of the expanded length.

    tag & 3   what            length                           then
    0         literal         tag >> 2 plus 1, if below 60     the bytes
                              60..63: in the next 1..4 bytes
    1         copy, 1 byte    4 + (tag >> 2 & 7)               offset: tag >> 5 << 8 | next byte
    2         copy, 2 bytes   1 + (tag >> 2)                   offset: 2 bytes, little endian
    3         copy, 4 bytes   1 + (tag >> 2)                   offset: 4 bytes, little endian

The format leaves the choice of matches open. Ours is fixed (docs/formats/sstable.md,
"Compression"): equal blocks are stored as equal bytes by every kernel, for ever.
"""

from lochan.errors import Corruption
from lochan.kernel.interface import MAX_BLOCK
from lochan.kernel.twin.coding import get_uvarint, put_uvarint

FRAGMENT = 1 << 16  # positions fit two bytes, and so do offsets
SHORTEST_SEARCHED = 17
MARGIN = 15  # the tail in which no match may begin
LARGEST_TABLE = 1 << 14
HASH_FACTOR = 0x1E35A7BD


def compress(data: bytes) -> bytes:
    """Raw snappy, deterministic: docs/formats/sstable.md says which matches are taken."""
    out = bytearray(put_uvarint(len(data)))
    for start in range(0, len(data), FRAGMENT):
        fragment = data[start : start + FRAGMENT]
        if len(fragment) < SHORTEST_SEARCHED:
            _put_literal(out, fragment)
        else:
            _compress_fragment(out, fragment)
    return bytes(out)


class _Matcher:
    """Remembers where each hash of four bytes was seen last in one fragment."""

    __slots__ = ("limit", "shift", "source", "table")

    def __init__(self, source: bytes) -> None:
        bits = 8
        while 1 << bits < min(len(source), LARGEST_TABLE):
            bits += 1
        self.source = source
        self.table = [0] * (1 << bits)
        self.shift = 32 - bits
        self.limit = len(source) - MARGIN

    def exchange(self, at: int) -> int:
        """Remember position `at`; give the last one with the same hash."""
        word = int.from_bytes(self.source[at : at + 4], "little")
        slot = (word * HASH_FACTOR & 0xFFFFFFFF) >> self.shift
        before = self.table[slot]
        self.table[slot] = at
        return before

    def same_word(self, at: int, candidate: int) -> bool:
        """Say whether the four bytes agree, as their hashes do."""
        return self.source[at : at + 4] == self.source[candidate : candidate + 4]

    def search(self, at: int) -> tuple[int, int] | None:
        """Find the next match from `at` on: (position, candidate); steps widen as it fails."""
        skip = 32
        while True:
            step = skip >> 5
            skip += step
            if at + step > self.limit:
                return None
            candidate = self.exchange(at)
            if self.same_word(at, candidate):
                return at, candidate
            at += step

    def match_end(self, at: int, candidate: int) -> int:
        """Follow two equal stretches to the first difference or the fragment's end."""
        source, end = self.source, len(self.source)
        while at < end and source[at] == source[candidate]:
            at += 1
            candidate += 1
        return at


def _compress_fragment(out: bytearray, source: bytes) -> None:
    matcher = _Matcher(source)
    done, at = 0, 1
    while found := matcher.search(at):
        at, candidate = found
        _put_literal(out, source[done:at])
        while True:
            start = at
            at = matcher.match_end(at + 4, candidate + 4)
            _put_copy(out, start - candidate, at - start)
            done = at
            if at >= matcher.limit:
                break
            matcher.exchange(at - 1)
            candidate = matcher.exchange(at)
            if not matcher.same_word(at, candidate):
                at += 1
                break
    if done < len(source):
        _put_literal(out, source[done:])


def _put_literal(out: bytearray, literal: bytes) -> None:
    most = len(literal) - 1
    if most < 60:
        out.append(most << 2)
    elif most < 1 << 8:
        out += bytes((60 << 2, most))
    else:
        out += bytes((61 << 2, most & 0xFF, most >> 8))
    out += literal


def _put_copy(out: bytearray, offset: int, length: int) -> None:
    while length >= 68:  # not 64: what is left must be at least 4 long, the least of the short form
        out += bytes((63 << 2 | 2, offset & 0xFF, offset >> 8))
        length -= 64
    if length > 64:
        out += bytes((59 << 2 | 2, offset & 0xFF, offset >> 8))
        length -= 60
    if length < 12 and offset < 2048:
        out += bytes((offset >> 8 << 5 | length - 4 << 2 | 1, offset & 0xFF))
    else:
        out += bytes((length - 1 << 2 | 2, offset & 0xFF, offset >> 8))


def decompress(data: bytes) -> bytes:
    """Undo raw snappy. Raises Corruption; refuses a declared size above MAX_BLOCK."""
    size, at = get_uvarint(data, 0, len(data))
    if size > MAX_BLOCK:
        raise Corruption(f"a block declares {size} bytes, more than {MAX_BLOCK}")
    out = bytearray()
    while at < len(data):
        if data[at] & 3:
            length, offset, at = _read_copy(data, at)
            _check_room(size, len(out), length)
            _append_copy(out, offset, length)
        else:
            length, at = _read_literal(data, at)
            _check_room(size, len(out), length)
            out += data[at : at + length]
            at += length
    if len(out) != size:
        raise Corruption(f"a block declares {size} bytes and holds {len(out)}")
    return bytes(out)


def _check_room(size: int, done: int, length: int) -> None:
    if length > size - done:
        raise Corruption("compressed data runs past the declared size")


def _read_literal(data: bytes, at: int) -> tuple[int, int]:
    """Give the length of a literal and where its bytes begin."""
    most, at = data[at] >> 2, at + 1
    if most >= 60:
        width = most - 59
        if at + width > len(data):
            raise Corruption("compressed data ends within a tag")
        most, at = int.from_bytes(data[at : at + width], "little"), at + width
    if most + 1 > len(data) - at:
        raise Corruption("a literal runs past the compressed data")
    return most + 1, at


def _read_copy(data: bytes, at: int) -> tuple[int, int, int]:
    """Give length and offset of a copy, and where the next tag begins."""
    tag, width = data[at], (0, 1, 2, 4)[data[at] & 3]
    after = at + 1 + width
    if after > len(data):
        raise Corruption("compressed data ends within a tag")
    offset = int.from_bytes(data[at + 1 : after], "little")
    if width == 1:
        return 4 + (tag >> 2 & 7), tag >> 5 << 8 | offset, after
    return 1 + (tag >> 2), offset, after


def _append_copy(out: bytearray, offset: int, length: int) -> None:
    if not 0 < offset <= len(out):
        raise Corruption("a copy reaches before the block")
    start = len(out) - offset
    if offset >= length:
        out += out[start : start + length]
    else:  # the copy reads what it writes: the last `offset` bytes repeat
        out += (out[start:] * (length // offset + 1))[:length]
