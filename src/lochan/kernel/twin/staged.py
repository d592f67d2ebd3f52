# SPDX-License-Identifier: Apache-2.0
"""Staged entries as columns: many small protobuf messages at once (docs/formats/records.md).

A message is a run of fields, each a uvarint tag (number times 8, plus how it is written) and what
follows from that: 0 a uvarint, 1 eight bytes, 2 a length and so many bytes, 5 four bytes. Here 1 is
the key, 2 the identity, 3 the data; others are passed over, and of a field that comes twice the
last counts.
"""

from lochan.errors import Corruption
from lochan.kernel.records import Records
from lochan.kernel.twin.coding import get_uvarint

_OURS = 3
_FIXED = {1: 8, 5: 4}
_VARINT, _BYTES = 0, 2


def decode_staged(messages: list[bytes]) -> Records:
    """Turn staged entries, in key order, into columns. Raises Corruption."""
    rows = []
    for number, message in enumerate(messages):
        try:
            rows.append(_fields(message))
        except Corruption as error:
            reason = f"staged entry {number} of {len(messages)} is no StagedEntry message"
            raise Corruption(reason) from error
    return Records.of(rows)


def _fields(message: bytes) -> tuple[bytes, bytes, bytes]:
    found = [b"", b"", b""]
    at, end = 0, len(message)
    while at < end:
        tag, at = get_uvarint(message, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0 or (number <= _OURS and wire != _BYTES):
            raise Corruption("a field cannot be")
        size = _FIXED.get(wire, 0)
        if wire in {_VARINT, _BYTES}:
            value, at = get_uvarint(message, at, end)
            size = value if wire == _BYTES else 0
        elif not size:
            raise Corruption("a field is written in no way we know")
        if size > end - at:
            raise Corruption("a field runs past the end")
        if number <= _OURS:
            found[number - 1] = message[at : at + size]
        at += size
    return found[0], found[1], found[2]
