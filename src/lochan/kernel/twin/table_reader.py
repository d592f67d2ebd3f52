# SPDX-License-Identifier: Apache-2.0
"""Read the rows of a table through its index.

What the index promises is checked when it is opened: handles lie inside the file, ascend and do not
overlap; separators strictly increase. What a data block must keep is checked whenever one is read:
rows are SETs, their keys strictly increase, lie above the separator before the block and not above
its own. So two blocks that changed places are found, though the checksum of each is right.

Sequence numbers are not looked at: RocksDB writes others than 0.
"""

from array import array
from bisect import bisect_left

from lochan.errors import Corruption, InvalidInput
from lochan.kernel.interface import BLOCKS_AT_ONCE, MAX_KEY, MAX_SCAN, Table
from lochan.kernel.records import Column, Records
from lochan.kernel.twin.block_builder import TRAILER_LENGTH
from lochan.kernel.twin.block_reader import Entry, decode_block
from lochan.kernel.twin.coding import get_uvarint
from lochan.kernel.twin.entry_objects import entry_objects
from lochan.kernel.twin.value_record import split_value

SEQUENCE_LENGTH = 8
SET = 1

Row = tuple[bytes, bytes, bytes]
Handle = tuple[int, int]


class TwinTable:
    """A table file's bytes and its index, decoded."""

    def __init__(
        self, file: bytes | memoryview, name: str, separators: list[bytes], handles: list[Handle]
    ) -> None:
        """Keep a decoded index; `open_table` makes it."""
        self._file = file
        self._name = name
        self._separators = separators
        self._handles = handles
        self.block_count = len(handles)

    def scan(self, first: int, stop: int) -> Records:
        """Decode blocks first to stop - 1 into columns, checking key order on the way."""
        if not 0 <= first <= stop <= self.block_count:
            raise IndexError(f"blocks {first} to {stop} are not among {self.block_count}")
        rows: list[Row] = []
        size = 0
        for number in range(first, stop):
            found = self._rows(number)
            rows += found
            size += sum(len(part) for row in found for part in row)
            if size > MAX_SCAN:
                offset, _ = self._handles[number]
                reason = "the blocks expand to more than any file of ours holds"
                raise Corruption(reason, file=self._name, offset=offset)
        return Records.of(rows)

    def find_block(self, key: bytes) -> int:
        """Number the first block that may hold `key` or a larger one; block_count if none."""
        return bisect_left(self._separators, key)

    def get(self, key: bytes) -> tuple[bytes, bytes] | None:
        """Look up one key: (identity, value), or None."""
        number = self.find_block(key)
        if number == self.block_count:
            return None
        return _find(self._rows(number), key)

    def get_many(self, keys: Column) -> Records:
        """Look up ascending keys, repeats allowed; an absent key gets an empty identity."""
        answers: list[Row] = []
        read, rows, previous = -1, list[Row](), b""
        for key in keys:
            if key < previous:
                raise InvalidInput(f"look-up key {key!r} comes after {previous!r}; sort first")
            number = self.find_block(key)
            if number not in {read, self.block_count}:
                read, rows = number, self._rows(number)
            found = _find(rows, key) if number == read else None
            answers.append((key, *(found or (b"", b""))))
            previous = key
        return Records.of(answers)

    def objects(self, inside: bytes) -> tuple[memoryview, memoryview]:
        """Give what `entry_objects` gives for all rows, checked as by a scan."""
        hashes, sizes = array("q"), array("q")
        for first in range(0, self.block_count, BLOCKS_AT_ONCE):
            rows = self.scan(first, min(first + BLOCKS_AT_ONCE, self.block_count))
            try:
                found = entry_objects(rows.values, inside)
            except Corruption as error:
                offset, _ = self._handles[first]
                raise Corruption(error.reason, file=self._name, offset=offset) from error
            hashes.extend(found[0])
            sizes.extend(found[1])
        return memoryview(hashes), memoryview(sizes)

    def verify(self) -> int:
        """Check every block, checksum and key order; count the rows."""
        return sum(len(self._rows(number)) for number in range(self.block_count))

    def _rows(self, number: int) -> list[Row]:
        offset, length = self._handles[number]
        entries = decode_block(self._file, offset, length, self._name)
        try:
            if self.block_count > 1:
                _check_filled(entries)
            rows = [_row(entry) for entry in entries]
            above = self._separators[number - 1] if number else None
            _check_order([row[0] for row in rows], above, self._separators[number])
        except Corruption as error:
            raise Corruption(error.reason, file=self._name, offset=offset) from error
        return rows


def open_table(
    file: bytes | memoryview,
    name: str,
    index_offset: int,
    index_length: int,
    two_level: bool,  # noqa: FBT001 - the interface's signature
) -> Table:
    """Decode the index of a file whose footer and properties have been read."""
    separators, handles = _index_block(file, name, (index_offset, index_length), None, None)
    _check_handles(name, handles, index_offset)
    if two_level:
        partitions = list(zip(separators, handles, strict=True))
        separators, handles, above = [], [], None
        for highest, partition in partitions:
            found, named = _index_block(file, name, partition, above, highest)
            separators += found
            handles += named
            above = highest
        _check_handles(name, handles, index_offset)
    return TwinTable(file, name, separators, handles)


def _index_block(
    file: bytes | memoryview, name: str, handle: Handle, above: bytes | None, highest: bytes | None
) -> tuple[list[bytes], list[Handle]]:
    """Read an index block whose keys must lie above `above` and not above `highest`."""
    entries = decode_block(file, *handle, name)
    try:
        _check_filled(entries)
        separators = [_user_key(key) for key, _ in entries]
        _check_order(separators, above, highest)
        return separators, [_handle(value) for _, value in entries]
    except Corruption as error:
        raise Corruption(error.reason, file=name, offset=handle[0]) from error


def _check_handles(name: str, handles: list[Handle], end: int) -> None:
    behind = 0
    for offset, length in handles:
        after = offset + length + TRAILER_LENGTH
        if offset < behind or after > end:
            raise Corruption(
                f"the index names a block of {length} bytes here, between others or past {end}",
                file=name,
                offset=offset,
            )
        behind = after


def _check_filled(entries: list[Entry]) -> None:
    if not entries:
        raise Corruption("a block is empty that is not the only one")


def _check_order(keys: list[bytes], above: bytes | None, highest: bytes | None) -> None:
    """Check that keys strictly increase within (above, highest]; None is no bound."""
    previous = above
    for key in keys:
        if previous is not None and key <= previous:
            raise Corruption(f"key {key!r} is not above {previous!r}, which is before it")
        previous = key
    if previous is not None and highest is not None and previous > highest:
        raise Corruption(f"key {previous!r} is above the separator {highest!r} of its block")


def _handle(value: bytes) -> Handle:
    offset, at = get_uvarint(value, 0, len(value))
    length, at = get_uvarint(value, at, len(value))
    if at != len(value):
        raise Corruption("an index entry holds more than a block handle")
    return offset, length


def _user_key(key: bytes) -> bytes:
    if len(key) < SEQUENCE_LENGTH:
        raise Corruption(f"a key of {len(key)} bytes has no room for its sequence number")
    return key[:-SEQUENCE_LENGTH]


def _row(entry: Entry) -> Row:
    key, value = entry
    user_key = _user_key(key)
    if len(user_key) > MAX_KEY:
        raise Corruption(f"a key has {len(user_key)} bytes, more than {MAX_KEY}")
    if key[-SEQUENCE_LENGTH] != SET:
        raise Corruption(f"a row has kind {key[-SEQUENCE_LENGTH]}; only SET ({SET}) is supported")
    return user_key, *split_value(value)


def _find(rows: list[Row], key: bytes) -> tuple[bytes, bytes] | None:
    at = bisect_left(rows, (key,))
    if at < len(rows) and rows[at][0] == key:
        return rows[at][1], rows[at][2]
    return None
