# SPDX-License-Identifier: Apache-2.0
"""Entries of objects that lie elsewhere, from columns: identities and messages, many at once.

What `lochan.model.entry.identity` and `lochan.model.codec.encode_entry` give for an entry with an
address in full and neither metadata nor blocks (docs/formats/records.md).
"""

import hashlib

from lochan.errors import InvalidInput
from lochan.kernel.records import Column
from lochan.kernel.twin.coding import put_uvarint

_SECOND = 1_000_000_000
_FULL = 2
_UNSIGNED = (1 << 64) - 1


def encode_objects(
    addresses: Column,
    sizes: memoryview,
    e_tags: Column,
    times: memoryview,
    content_type: bytes,
) -> tuple[Column, Column]:
    """Make identities and entries of objects that lie elsewhere. Raises InvalidInput."""
    if not len(addresses) == len(sizes) == len(e_tags) == len(times):
        raise InvalidInput("columns of objects have different lengths")
    identities, values = [], []
    for number, (address, size, e_tag, time) in enumerate(
        zip(addresses, sizes, e_tags, times, strict=True)
    ):
        if size < 0:
            raise InvalidInput(f"object {number} has {size} bytes; no object has so few")
        identities.append(_identity(size, e_tag, content_type))
        values.append(
            _text(0x0A, address)
            + _time(time)
            + _number(0x18, size)
            + _text(0x22, e_tag)
            + _number(0x30, _FULL)
            + _text(0x3A, content_type)
        )
    return Column.of(identities), Column.of(values)


def _identity(size: int, e_tag: bytes, content_type: bytes) -> bytes:
    empty_map = b"\x04" + _int64(0)
    parts = _int64(size) + _string(e_tag) + empty_map
    return hashlib.sha256(parts + (_string(content_type) if content_type else b"")).digest()


def _int64(number: int) -> bytes:
    return b"\x02\x08" + number.to_bytes(8, "big", signed=True)


def _string(text: bytes) -> bytes:
    return b"\x01" + _int64(len(text)) + text


def _text(tag: int, text: bytes) -> bytes:
    return bytes((tag,)) + put_uvarint(len(text)) + text if text else b""


def _number(tag: int, number: int) -> bytes:
    return bytes((tag,)) + put_uvarint(number & _UNSIGNED) if number else b""


def _time(moment: int) -> bytes:
    seconds, rest = divmod(moment, _SECOND)
    stamp = _number(0x08, seconds) + _number(0x10, rest)
    return b"\x12" + put_uvarint(len(stamp)) + stamp if stamp else b""
