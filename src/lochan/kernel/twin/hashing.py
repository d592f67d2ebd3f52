# SPDX-License-Identifier: Apache-2.0
"""Names and cut hashes: docs/formats/ids.md.

    record id = H(H(key) || H(value record))
    file id   = H(record id 1 || ... || record id n)        H = SHA-256, 32 raw bytes

The whole value record is hashed, not the identity alone: two ranges that point to different objects
of equal content must not share a name.
"""

from hashlib import sha256

from lochan.kernel.interface import STRETCH_ROWS, Breathe
from lochan.kernel.records import Records
from lochan.kernel.twin.value_record import join_value

FNV_OFFSET = 0xCBF29CE484222325
FNV_PRIME = 0x100000001B3


def fnv1a64(data: bytes) -> int:
    """FNV-1a, 64 bits."""
    state = FNV_OFFSET
    for byte in data:
        state = (state ^ byte) * FNV_PRIME & 0xFFFFFFFFFFFFFFFF
    return state


def file_id(records: Records, breathe: Breathe = None) -> bytes:
    """Name records by seed 001's formula: 32 bytes (docs/formats/ids.md)."""
    whole = sha256()
    for number, (key, identity, data) in enumerate(records):
        if breathe is not None and number and number % STRETCH_ROWS == 0:
            breathe()
        value = sha256(join_value(identity, data)).digest()
        whole.update(sha256(sha256(key).digest() + value).digest())
    return whole.digest()
