# SPDX-License-Identifier: Apache-2.0
"""The value of a row: an identity and data, each behind its zig-zag length.

    value record   length identity, identity, length data, data, ignored bytes

Readers ignore what follows, so that fields may be added. An identity is never empty: an empty one
means "removed" in changes and "absent" in answers, and would be lost as a stored row.
"""

from lochan.errors import Corruption
from lochan.kernel.interface import MAX_COMPONENT
from lochan.kernel.twin.coding import get_length, put_length


def join_value(identity: bytes, data: bytes) -> bytes:
    """Encode a value record."""
    return put_length(len(identity)) + identity + put_length(len(data)) + data


def split_value(value: bytes) -> tuple[bytes, bytes]:
    """Decode a value record: (identity, data)."""
    identity, at = _component(value, 0)
    data, _ = _component(value, at)
    if not identity:
        raise Corruption("a stored row has an empty identity")
    return identity, data


def _component(value: bytes, at: int) -> tuple[bytes, int]:
    length, at = get_length(value, at, len(value))
    if length > MAX_COMPONENT or length > len(value) - at:
        raise Corruption(f"a value record holds a component of {length} bytes")
    return value[at : at + length], at + length
