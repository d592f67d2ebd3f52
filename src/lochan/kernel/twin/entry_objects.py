# SPDX-License-Identifier: Apache-2.0
"""The objects that entries name, as hashes: many small protobuf messages at once.

Of an Entry (docs/formats/records.md) only the address (1), the size (3) and the blocks (100) count,
and of a block its address and size. What lies elsewhere, by an address in full, is left out; an
address in full that begins with `inside` is taken without that beginning.
"""

import re
from array import array
from typing import Final

from lochan.errors import Corruption
from lochan.kernel.records import Column
from lochan.kernel.twin.coding import get_uvarint
from lochan.kernel.twin.hashing import fnv1a64

_ADDRESS, _SIZE, _BLOCKS = 1, 3, 100
_VARINT, _BYTES = 0, 2
_FIXED: Final = {1: 8, 5: 4}
_KINDS: Final = {_ADDRESS: _BYTES, _SIZE: _VARINT, _BLOCKS: _BYTES}
_FULL: Final = re.compile(rb"[0-9A-Za-z]+://")

_Objects = list[tuple[bytes, int]]


def entry_objects(values: Column, inside: bytes) -> tuple[memoryview, memoryview]:
    """Hash the addresses that entries name, and tell their sizes. Raises Corruption."""
    found: _Objects = []
    for number, value in enumerate(values):
        try:
            found += _objects(value, is_block=False)
        except Corruption as error:
            reason = f"entry {number} of {len(values)} is no Entry message"
            raise Corruption(reason) from error
    own = [(_own(address, inside), size) for address, size in found]
    hashes = array("q", (_signed(fnv1a64(address)) for address, _ in own if address))
    sizes = array("q", (size for address, size in own if address))
    return memoryview(hashes), memoryview(sizes)


def _own(address: bytes, inside: bytes) -> bytes:
    if inside and len(address) > len(inside) and address.startswith(inside):
        return address[len(inside) :]
    return b"" if _FULL.match(address) else address


def _objects(message: bytes, *, is_block: bool) -> _Objects:
    found: _Objects = []
    address, size = b"", 0
    at, end = 0, len(message)
    while at < end:
        field, wire, value, content, at = _field(message, at, end)
        if is_block and field == _BLOCKS:
            continue
        if _KINDS.get(field, wire) != wire:
            raise Corruption("a field of ours is of another kind")
        if field == _ADDRESS:
            address = content
        elif field == _SIZE:
            size = _signed(value)
        elif field == _BLOCKS:
            found += _objects(content, is_block=True)
    return [*found, (address, size)]


def _field(message: bytes, at: int, end: int) -> tuple[int, int, int, bytes, int]:
    """Read a field: its number, how it is written, its number or content, and what is behind it."""
    tag, at = get_uvarint(message, at, end)
    field, wire = tag >> 3, tag & 7
    if field == 0:
        raise Corruption("a field cannot be")
    value, length = 0, _FIXED.get(wire, 0)
    if wire in {_VARINT, _BYTES}:
        value, at = get_uvarint(message, at, end)
        length = value if wire == _BYTES else 0
    elif not length:
        raise Corruption("a field is written in no way we know")
    if length > end - at:
        raise Corruption("a field runs past the end")
    return field, wire, value, message[at : at + length], at + length


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
