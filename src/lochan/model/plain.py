# SPDX-License-Identifier: Apache-2.0
"""The bytes of a plain entry, of its staged row and of a new branch, written without a message.

The first two are written by the million, branches by the thousand a second, and building a protobuf
message costs several times what its bytes do. The bytes are the same (a property test compares
them), or there are none: what is not plain, or cannot be stored, is None here and goes by its
message, which says what is wrong.

    entry     0a address, 12 (08 seconds, 10 nanoseconds), 18 size, 22 e_tag, 30 address type,
              3a content type
    staged    0a key, 12 identity, 1a data
    branch    0a name, 12 commit id, 1a staging token, b8 06 resets

A field that is empty or 0 is left out. Text and bytes are preceded by their length; lengths and
numbers are varints.
"""

from functools import lru_cache

from lochan.model.entry import AddressType, Entry
from lochan.model.instant import NANOSECONDS
from lochan.model.records import Branch


def _varint(number: int) -> bytes:
    """Encode a number that is not negative: seven bits a byte, the lowest first."""
    parts = bytearray()
    while rest := number >> 7:
        parts.append(number & 0x7F | 0x80)
        number = rest
    parts.append(number)
    return bytes(parts)


_LENGTHS = tuple(map(_varint, range(4096)))  # what is longer is not plain
_TYPES = {kind: b"\x30%c" % kind if kind else b"" for kind in AddressType}
_LATEST = 253_402_300_800 * NANOSECONDS
_LARGEST = 1 << 63
# Writers of one second share it, and objects of one table are often of one size.
_number = lru_cache(1024)(_varint)


def plain_entry(entry: Entry) -> bytes | None:
    """Encode an entry without metadata, blocks and epoch; None for any other."""
    if entry.metadata or entry.blocks or entry.epoch or entry.unknown:
        return None
    moment, size = entry.last_modified, entry.size
    if not (0 < moment < _LATEST and 0 < size < _LARGEST):
        return None
    try:
        address, e_tag = entry.address.encode(), entry.e_tag.encode()
        seconds, nanoseconds = divmod(moment, NANOSECONDS)
        stamp = b"\x08" + _number(seconds) if seconds else b""
        if nanoseconds:
            stamp += b"\x10" + _varint(nanoseconds)
        return b"%b\x12%c%b\x18%b%b%b%b" % (
            b"\x0a%b%b" % (_LENGTHS[len(address)], address) if address else b"",
            len(stamp),
            stamp,
            _number(size),
            b"\x22%b%b" % (_LENGTHS[len(e_tag)], e_tag) if e_tag else b"",
            _TYPES[entry.address_type],
            _content_type(entry.content_type),
        )
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def plain_staged_entry(key: bytes, identity: bytes, data: bytes) -> bytes | None:
    """Encode the staged row of an object; None for a tombstone, or where something is long."""
    try:
        if key and identity and data:
            return b"\x0a%b%b\x12%b%b\x1a%b%b" % (
                *(_LENGTHS[len(key)], key),
                *(_LENGTHS[len(identity)], identity),
                *(_LENGTHS[len(data)], data),
            )
    except (LookupError, TypeError):
        return None
    return None


def plain_branch(branch: Branch) -> bytes | None:
    """Encode a branch as it is made, not hidden; None once it has more than that."""
    if branch.hidden or branch.lineage or branch.sealed_tokens or branch.ordinals or branch.unknown:
        return None
    if branch.compacted_base_meta_range_id or branch.moves or not 0 < branch.resets < _LARGEST:
        return None
    if branch.forgotten or branch.resets_in_place:
        return None
    try:
        name, head = branch.branch_id.encode(), branch.commit_id.encode()
        token = branch.staging_token.encode()
        if name and head and token:
            return b"\x0a%b%b\x12%b%b\x1a%b%b\xb8\x06%b" % (
                *(_LENGTHS[len(name)], name),
                *(_LENGTHS[len(head)], head),
                *(_LENGTHS[len(token)], token),
                _varint(branch.resets),
            )
    except (AttributeError, LookupError, TypeError, ValueError):
        return None
    return None


@lru_cache(1000)
def _content_type(text: str) -> bytes:
    encoded = text.encode()
    return b"\x3a%b%b" % (_LENGTHS[len(encoded)], encoded) if encoded else b""
