# SPDX-License-Identifier: Apache-2.0
"""What a kernel offers. `native` (Cython) and `twin` (pure Python) both offer exactly this.

Equal input gives equal output, byte for byte, from both; `tests/unit/kernel` runs every test on
both and compares them. All functions are pure, but for what `breathe` does. The native ones release
the interpreter lock while they work, so two threads use two cores. Where a whole range takes them
long they can breathe: they call what they are given, with the lock, between stretches of
STRETCH_ROWS rows; `concat` does so between parts that together have as many.

Damaged or hostile input raises `Corruption` with the file's name and the offset of the block; it
never reads out of bounds, and allocates no more than the limits below say. Formats:
docs/formats/sstable.md, docs/formats/ids.md.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from lochan.kernel.records import Column, Records

# A hostile block may declare any size: what is larger than the largest legal row is refused before
# anything is allocated. 640 << 16 is the largest identity or value (docs/formats/sstable.md).
MAX_COMPONENT = 640 << 16
MAX_KEY = 1 << 16
MAX_BLOCK = 2 * MAX_COMPONENT + 2 * MAX_KEY
# A few bytes of a file can stand for a long key, again and again. A range ends at 64 MiB of raw
# size, a row later: whatever gives much more in one scan is no file of ours.
MAX_SCAN = 512 << 20
# What work calls where others may have their turn; None: it goes on without a pause.
Breathe: TypeAlias = Callable[[], None] | None
STRETCH_ROWS = 2048  # a millisecond or two of a range's rows; even, as names hash pairs of records
BLOCKS_AT_ONCE = 8  # `Table.objects` reads so many: a processor's cache holds their rows


class EncodedBlocks(NamedTuple):
    """The data and index part of a table file, and what its properties say about it.

    `body` is data blocks, lower index blocks (two-level only), then the index or top-level index
    block, each with its trailer. Offsets count from the start of `body`, which starts the file.
    """

    body: bytes | memoryview
    index_offset: int
    index_length: int  # of the (top-level) index block as stored, without trailer
    index_partitions: int  # 0 when the index has one level
    top_level_index_size: int  # uncompressed, 0 when the index has one level
    index_size: int  # property rocksdb.index.size
    data_size: int  # all data blocks with trailers
    data_blocks: int
    raw_key_size: int  # sum of key length + 8
    raw_value_size: int  # sum of encoded value record lengths
    estimated_size: int  # docs/formats/sstable.md, "Estimated size"


class DiffRows(NamedTuple):
    """Where two sorted record lists differ, in key order; one element a difference in each list.

    `kinds` holds b"a" (only right has the key), b"r" (only left), b"c" (identities differ). `left`
    and `right` hold row numbers as int64; the side that lacks the key has -1.
    """

    kinds: bytes
    left: memoryview
    right: memoryview


class MergedRows(NamedTuple):
    """The rows of a three-way merge, and the row numbers of each conflict.

    A conflict's three numbers stand at the same place in `base`, `dest` and `source` (int64, -1
    where that side lacks the key). Conflicting keys take the destination's side in `records` under
    strategy "" and "dest-wins", the source's under "source-wins".
    """

    records: Records
    base: memoryview
    dest: memoryview
    source: memoryview


class EntryColumns(NamedTuple):
    """The fields of entries, a column each (docs/formats/records.md); numbers are int64.

    `last_modified` is in microseconds since 1970, rounded down. The metadata of entry i are the
    keys and values from metadata_offsets[i] up to metadata_offsets[i + 1].
    """

    addresses: Column
    last_modified: memoryview
    sizes: memoryview
    e_tags: Column
    address_types: memoryview
    content_types: Column
    metadata_offsets: memoryview
    metadata_keys: Column
    metadata_values: Column


class HashSet(Protocol):
    """A set of hashes (int64), as large as memory is."""

    def __contains__(self, number: object, /) -> bool:
        """Say whether a hash is there."""

    def __len__(self) -> int:
        """Count them."""

    def update(self, hashes: memoryview, /) -> None:
        """Add hashes."""


class Table(Protocol):
    """The rows of one table file, found through its index; the file stays where it is."""

    block_count: int

    def scan(self, first: int, stop: int) -> Records:
        """Decode blocks first to stop - 1 into columns, checking key order on the way."""

    def find_block(self, key: bytes) -> int:
        """Number the first block that may hold `key` or a larger one; block_count if none."""

    def get(self, key: bytes) -> tuple[bytes, bytes] | None:
        """Look up one key: (identity, value), or None."""

    def get_many(self, keys: Column) -> Records:
        """Look up ascending keys, repeats allowed; an absent key gets an empty identity."""

    def objects(self, inside: bytes) -> tuple[memoryview, memoryview]:
        """Give what `Kernel.entry_objects` gives for all rows, checked as by a scan."""

    def verify(self) -> int:
        """Check every block, checksum and key order; count the rows."""


class Kernel(Protocol):
    """The hot loops: checksums, hashes, blocks and row algebra."""

    def crc32c(self, data: bytes | memoryview) -> int:
        """CRC-32C (Castagnoli), unmasked."""

    def compress(self, data: bytes) -> bytes:
        """Raw snappy, deterministic: docs/formats/sstable.md says which matches are taken."""

    def decompress(self, data: bytes) -> bytes:
        """Undo raw snappy. Raises Corruption; refuses a declared size above MAX_BLOCK."""

    def fnv1a64(self, data: bytes) -> int:
        """FNV-1a, 64 bits."""

    def file_id(self, records: Records, breathe: Breathe = None) -> bytes:
        """Name records by seed 001's formula: 32 bytes (docs/formats/ids.md)."""

    def encode(self, records: Records, breathe: Breathe = None) -> EncodedBlocks:
        """Write data and index blocks. Raises InvalidInput unless keys strictly increase."""

    def map_file(self, path: Path) -> memoryview:
        """Show a file's bytes without reading them. Raises OSError.

        The file must not shrink while it is mapped: it is immutable, and only ever unlinked.
        """

    def decode_block(
        self, file: bytes | memoryview, offset: int, length: int, name: str
    ) -> list[tuple[bytes, bytes]]:
        """Read one block at a handle: check bounds and checksum, expand, list its (key, value)s."""

    def open_table(
        self,
        file: bytes | memoryview,
        name: str,
        index_offset: int,
        index_length: int,
        two_level: bool,  # noqa: FBT001 - positional, as every argument of a kernel
    ) -> Table:
        """Decode the index of a file whose footer and properties have been read."""

    def decode_staged(self, messages: list[bytes]) -> Records:
        """Turn staged entries, in key order, into columns; see `StagedEntry`. Raises Corruption."""

    def entry_objects(self, values: Column, inside: bytes) -> tuple[memoryview, memoryview]:
        """Hash the addresses that entries name (FNV-1a-64, as int64), and tell their sizes.

        One element in both for each object: an entry's own, and each block's. Objects that lie
        elsewhere, by an address in full, are left out; one that begins with `inside`, which may be
        empty, is taken without that beginning. Raises Corruption.
        """

    def hash_set(self) -> HashSet:
        """Make an empty set of hashes."""

    def decode_entries(self, values: Column) -> EntryColumns:
        """Turn a range's values into columns of their fields. Raises Corruption."""

    def encode_objects(
        self,
        addresses: Column,
        sizes: memoryview,
        e_tags: Column,
        times: memoryview,
        content_type: bytes,
    ) -> tuple[Column, Column]:
        """Make the identities and entries of objects that lie elsewhere, by addresses in full.

        Numbers are int64, times in nanoseconds since 1970. Raises InvalidInput for a negative size.
        """

    def concat(self, parts: Sequence[Records], breathe: Breathe = None) -> Records:
        """Join record lists end to end."""

    def sort_order(self, keys: Column) -> memoryview:
        """Give the row numbers (int64) that sort keys by bytes; equal keys keep their order."""

    def take(self, column: Column, rows: memoryview) -> Column:
        """Copy the values with these row numbers (int64) into a new column, in that order."""

    def inverse(self, rows: memoryview) -> memoryview:
        """Invert a permutation of row numbers: result[rows[i]] = i."""

    def lower_bound(self, keys: Column, key: bytes) -> int:
        """Number the first row whose key is not below `key`; keys are sorted."""

    def overlay(self, base: Records, changes: Records) -> tuple[Records, int]:
        """Apply sorted changes to base rows; count the rows added, removed or changed.

        An empty identity removes. A change whose identity equals the base row's keeps the base row:
        writing the same content again is no change. Raises InvalidInput for changes out of order:
        a removal that comes too late would find nothing and be lost.
        """

    def cut_points(
        self, records: Records, raggedness: int, cap_bytes: int, carried: int = 0
    ) -> memoryview:
        """Say where ranges end: int64 row counts, each the exclusive end of a finished range.

        A range ends after row i when FNV-1a-64(key) mod raggedness is 0, or when the raw size (key,
        identity and value lengths) since the last cut reaches the cap. Rows after the last cut are
        unfinished. `carried` is the raw size of the rows between the last cut and the first row.
        """

    def diff(self, left: Records, right: Records) -> DiffRows:
        """Compare two sorted record lists by key and identity."""

    def merge(self, base: Records, dest: Records, source: Records, strategy: str) -> MergedRows:
        """Merge row by row: a side that equals base yields to the other; equal changes agree."""
