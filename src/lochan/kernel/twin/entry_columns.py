# SPDX-License-Identifier: Apache-2.0
"""Entries as columns: the values of a range, many small protobuf messages in one buffer.

How messages are written is told in `staged`, the fields of an entry in docs/formats/records.md.
"""

from array import array
from collections.abc import Iterator

from lochan.errors import Corruption
from lochan.kernel.interface import EntryColumns
from lochan.kernel.records import Column
from lochan.kernel.twin.coding import get_uvarint

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
_ADDRESS, _MOMENT, _SIZE, _E_TAG, _METADATA, _ADDRESS_TYPE, _CONTENT_TYPE = range(1, 8)
_ENTRY = dict.fromkeys(range(1, 8), _BYTES) | {_SIZE: _VARINT, _ADDRESS_TYPE: _VARINT}
_TIMESTAMP = {1: _VARINT, 2: _VARINT}
_PAIR = {1: _BYTES, 2: _BYTES}
_MAX_SECONDS = 1 << 39  # far beyond the year 9999, so that microseconds fit


def decode_entries(values: Column) -> EntryColumns:
    """Turn a column of entries into columns of their fields. Raises Corruption."""
    texts: tuple[list[bytes], ...] = ([], [], [], [], [])
    numbers = array("q"), array("q"), array("q")
    offsets = array("q", [0])
    for number, message in enumerate(values):
        try:
            _read(message, texts, numbers)
        except Corruption as error:
            reason = f"value {number} of {len(values)} is no Entry message"
            raise Corruption(reason) from error
        offsets.append(len(texts[3]))
    address, e_tag, content_type, keys, items = map(Column.of, texts)
    moment, size, address_type = (memoryview(column) for column in numbers)
    return EntryColumns(
        address, moment, size, e_tag, address_type, content_type, memoryview(offsets), keys, items
    )


def _read(
    message: bytes, texts: tuple[list[bytes], ...], numbers: tuple["array[int]", ...]
) -> None:
    found: dict[int, bytes] = {}
    counted: dict[int, int] = {}
    moment: dict[int, int] = {}
    pairs: list[dict[int, bytes]] = []
    for field, number, data in whole_fields(message, _ENTRY):
        if field == _MOMENT:
            moment |= {one: value for one, value, _ in whole_fields(data, _TIMESTAMP)}
        elif field == _METADATA:
            pairs.append({one: value for one, _, value in whole_fields(data, _PAIR)})
        elif _ENTRY[field] == _VARINT:
            counted[field] = number
        else:
            found[field] = data
    seconds, nanoseconds = signed(moment.get(1, 0)), signed(moment.get(2, 0))
    if not -_MAX_SECONDS < seconds < _MAX_SECONDS or not 0 <= nanoseconds < 1_000_000_000:
        raise Corruption("a time cannot be")
    numbers[0].append(seconds * 1_000_000 + nanoseconds // 1000)
    numbers[1].append(signed(counted.get(_SIZE, 0)))
    numbers[2].append(signed(counted.get(_ADDRESS_TYPE, 0)))
    for column, field in zip(texts, (_ADDRESS, _E_TAG, _CONTENT_TYPE), strict=False):
        column.append(found.get(field, b""))
    for pair in pairs:
        texts[3].append(pair.get(1, b""))
        texts[4].append(pair.get(2, b""))


def whole_fields(message: bytes, ours: dict[int, int]) -> Iterator[tuple[int, int, bytes]]:
    """Give the fields that are ours, each as number or bytes; others are passed over."""
    at, end = 0, len(message)
    while at < end:
        tag, at = get_uvarint(message, at, end)
        field, wire = tag >> 3, tag & 7
        if field == 0 or ours.get(field, wire) != wire:
            raise Corruption("a field cannot be")
        number, size = 0, _FIXED.get(wire, 0)
        if wire in {_VARINT, _BYTES}:
            number, at = get_uvarint(message, at, end)
            size = number if wire == _BYTES else 0
        elif not size:
            raise Corruption("a field is written in no way we know")
        if size > end - at:
            raise Corruption("a field runs past the end")
        if field in ours:
            yield field, number, message[at : at + size]
        at += size


def signed(number: int) -> int:
    """Read 64 bits as a number that may be negative."""
    return number - (1 << 64) if number >> 63 else number
