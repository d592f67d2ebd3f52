# SPDX-License-Identifier: Apache-2.0
"""Read a table file, ours or another's: footer, metaindex, properties, then rows by the kernel.

Opening reads the footer and the index; a data block is read, and its checksum tested, when somebody
asks for its rows. `verify` reads everything and holds the rows against what the properties say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lochan.errors import Corruption
from lochan.kernel.chosen import kernel as chosen
from lochan.kernel.interface import MAX_SCAN, Kernel, Table
from lochan.kernel.records import EMPTY, Column, Records
from lochan.kernel.twin.coding import put_uvarint
from lochan.sstable import properties
from lochan.sstable.format import PROPERTIES_NAME, BlockHandle, get_footer, get_handle

STRETCH_BLOCKS = 64  # some 1,500 rows of a lake's objects, which take a millisecond or two

# What we cannot read, by the property that announces it and the value that is fine.
_REQUIRED: Mapping[str, bytes] = {
    properties.INDEX_KEY_IS_USER_KEY: b"\x00",
    properties.INDEX_VALUE_IS_DELTA: b"\x00",
    properties.NUM_RANGE_DELETIONS: b"\x00",
}


@dataclass(frozen=True, slots=True)
class StoredTable:
    """An open table file. `table` is the kernel's view of its rows, for hot loops."""

    name: str
    properties: Mapping[str, bytes]
    properties_offset: int
    size_bytes: int
    table: Table
    kernel: Kernel

    @property
    def block_count(self) -> int:
        """How many data blocks there are; `scan` takes their numbers."""
        return self.table.block_count

    def scan(self, first: int, stop: int) -> Records:
        """Decode data blocks first to stop - 1 into columns."""
        return self.table.scan(first, stop)

    def records(self) -> Records:
        """Decode every row."""
        return self.table.scan(0, self.table.block_count)

    def stretches(self) -> Iterator[Records]:
        """Decode every row, some blocks at a time; all together are bounded as one scan is."""
        size = 0
        for first in range(0, self.block_count, STRETCH_BLOCKS):
            rows = self.table.scan(first, min(first + STRETCH_BLOCKS, self.block_count))
            size += rows.raw_size
            if size > MAX_SCAN:
                reason = "the blocks expand to more than any file of ours holds"
                raise Corruption(reason, file=self.name, offset=self.properties_offset)
            yield rows

    def find_block(self, key: bytes) -> int:
        """Number the first block that may hold `key` or a larger one; block_count if none."""
        return self.table.find_block(key)

    def get(self, key: bytes) -> tuple[bytes, bytes] | None:
        """Look up one key: (identity, value), or None."""
        return self.table.get(key)

    def get_many(self, keys: Column) -> Records:
        """Look up ascending keys, repeats allowed; an absent key gets an empty identity."""
        return self.table.get_many(keys)

    def verify(self) -> int:
        """Check every block, the properties against the rows, and our id; count the rows."""
        count = self.table.verify()
        first = self.table.scan(0, 1) if count else EMPTY
        last = self.table.scan(self.block_count - 1, self.block_count) if count else EMPTY
        found = {
            properties.COUNT: b"%d" % count,
            properties.NUM_ENTRIES: put_uvarint(count),
            properties.NUM_DATA_BLOCKS: put_uvarint(self.block_count),
            properties.MIN_KEY: first.keys[0] if count else b"",
            properties.MAX_KEY: last.keys[-1] if count else b"",
        }
        if self.properties.get(properties.ID_FORMULA) == properties.SEED_001:
            records = self.records()
            found[properties.ID] = self.kernel.file_id(records).hex().encode()
            found[properties.RAW_KEY_SIZE] = put_uvarint(records.keys.size_bytes + 8 * count)
        for name, value in found.items():
            self._expect(name, value)
        return count

    def _expect(self, name: str, value: bytes) -> None:
        stated = self.properties.get(name, value)
        if stated != value:
            raise Corruption(
                f"property {name} says {stated!r}, the rows say {value!r}",
                file=self.name,
                offset=self.properties_offset,
            )


def read_table(file: bytes | memoryview, name: str, *, kernel: Kernel = chosen) -> StoredTable:
    """Open a table file. The last part of `name` must be the id that the file carries, if any.

    Raises Corruption for damage and for what is not supported, saying which.
    """
    footer = get_footer(file, name)
    metaindex = _rows(kernel.decode_block(file, *footer.metaindex, name), footer.metaindex, name)
    handle = _properties_handle(metaindex, footer.metaindex, name)
    rows = _rows(kernel.decode_block(file, *handle, name), handle, name)
    found = {key.decode(errors="surrogateescape"): value for key, value in rows.items()}
    two_level = _check_supported(found, handle, name)
    table = kernel.open_table(file, name, footer.index.offset, footer.index.length, two_level)
    return StoredTable(name, found, handle.offset, len(file), table, kernel)


def _rows(entries: list[tuple[bytes, bytes]], handle: BlockHandle, name: str) -> dict[bytes, bytes]:
    rows = dict(entries)
    if [key for key, _ in entries] != sorted(rows):
        raise Corruption("names are not in strict order", file=name, offset=handle.offset)
    return rows


def _properties_handle(
    metaindex: Mapping[bytes, bytes], where: BlockHandle, name: str
) -> BlockHandle:
    stored = metaindex.get(PROPERTIES_NAME)
    if stored is None:
        raise Corruption("the metaindex names no properties", file=name, offset=where.offset)
    try:
        handle, at = get_handle(stored, 0)
    except Corruption as error:
        raise Corruption(error.reason, file=name, offset=where.offset) from error
    if at != len(stored) or handle.end > where.offset:
        raise Corruption(
            "the properties are not before the metaindex", file=name, offset=where.offset
        )
    return handle


def _check_supported(found: Mapping[str, bytes], handle: BlockHandle, name: str) -> bool:
    """Refuse what would be misread; say whether the index has two levels."""
    for key, fine in _REQUIRED.items():
        if found.get(key, fine) != fine:
            raise Corruption(
                f"property {key} is {found[key]!r}; only {fine!r} is supported",
                file=name,
                offset=handle.offset,
            )
    index_type = found.get(properties.INDEX_TYPE)
    if index_type not in {properties.ONE_LEVEL, properties.TWO_LEVEL}:
        raise Corruption(
            f"index type {index_type!r} is not supported", file=name, offset=handle.offset
        )
    stated = found.get(properties.ID)
    if stated is not None and stated != name.rpartition("/")[2].encode():
        raise Corruption(
            f"the file says that its id is {stated!r}", file=name, offset=handle.offset
        )
    return index_type == properties.TWO_LEVEL
