# SPDX-License-Identifier: Apache-2.0
"""What a key of the lake stands for: an object in the store, and what is known of it.

The *identity* of an entry is what diff and merge compare. It hashes size, checksum, user metadata
and content type, never the address or the time: writing the same content again is no change. The
worked example is in docs/formats/records.md.

    identity = H(int64 size, string e_tag, string map metadata,
                 [string content_type, if not empty],
                 [block list, clock list of the epoch, if the entry has either])

Files written by the verbs of 2016 (seed 002: put_file appends) are lists of *blocks*, and remember
their *epoch*: the clock of the commit that last created them from nothing. One block: `address` is
that block's. Several, or none, which is an empty file: `address` is empty, and whoever needs one
object has the file materialised first. Plain objects have an address, and no blocks.
"""

import hashlib
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import msgspec

from lochan.model import ident
from lochan.model.instant import Instant
from lochan.model.records import Clock

DEFAULT_CONTENT_TYPE = "application/octet-stream"


class AddressType(IntEnum):
    """How an entry's address is read."""

    BY_PREFIX_DEPRECATED = 0  # old lakeFS entries: full if it has a scheme, else relative
    RELATIVE = 1  # to the repository's storage namespace
    FULL = 2  # with scheme: an object that Lochan did not write


class Block(NamedTuple):
    """`size` bytes at `offset` of the object at `address`, and the SHA-256 of those bytes."""

    address: str
    offset: int
    size: int
    hash: bytes


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One object of the lake, or one file made of blocks."""

    address: str
    last_modified: Instant
    size: int
    e_tag: str
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    address_type: AddressType = AddressType.RELATIVE
    content_type: str = DEFAULT_CONTENT_TYPE
    blocks: tuple[Block, ...] = ()
    epoch: Clock | None = None
    unknown: bytes = b""

    @property
    def is_relative(self) -> bool:
        """Say whether the address lies in the repository's own storage namespace."""
        if self.address_type is AddressType.BY_PREFIX_DEPRECATED:
            return "://" not in self.address
        return self.address_type is AddressType.RELATIVE

    @property
    def is_of_blocks(self) -> bool:
        """Say whether this is a file of blocks; an empty one has none, and no address either."""
        return bool(self.blocks) or not self.address


def addresses_of(entry: Entry) -> tuple[str, ...]:
    """Name the objects that an entry needs; an empty file of blocks needs none."""
    if entry.is_of_blocks:
        return tuple(block.address for block in entry.blocks)
    return (entry.address,)


# Most entries have no metadata, and there are few content types.
_NO_METADATA = ident.string_map({})
_content_type = lru_cache(1000)(ident.string)


def identity(entry: Entry) -> bytes:
    """Hash what makes two entries the same content: 32 bytes."""
    parts = [
        ident.int64(entry.size),
        ident.string(entry.e_tag),
        ident.string_map(entry.metadata) if entry.metadata else _NO_METADATA,
    ]
    if entry.content_type:
        parts.append(_content_type(entry.content_type))
    if entry.blocks or entry.epoch:
        parts.append(ident.block_list([(block.hash, block.size) for block in entry.blocks]))
        parts.append(ident.clock_list([entry.epoch] if entry.epoch else []))
    return ident.digest(parts)


def entry_of_blocks(
    blocks: Sequence[Block],
    epoch: Clock,
    *,
    last_modified: Instant,
    metadata: Mapping[str, str] | None = None,
    content_type: str = DEFAULT_CONTENT_TYPE,
) -> Entry:
    """Describe a file of blocks.

    One block is an object like any other: its address, its hash. Of several, the checksum is the
    hash of the blocks' hashes with their number, so it cannot be taken for that of one object.
    """
    only = blocks[0] if len(blocks) == 1 else None
    joined = hashlib.sha256(b"".join(block.hash for block in blocks)).hexdigest()
    return Entry(
        address=only.address if only else "",
        last_modified=last_modified,
        size=sum(block.size for block in blocks),
        e_tag=only.hash.hex() if only else f"{joined}-{len(blocks)}",
        metadata=metadata or {},
        content_type=content_type,
        blocks=tuple(blocks),
        epoch=epoch,
    )
