# SPDX-License-Identifier: Apache-2.0
"""What a table file says about itself: names, values, order. docs/formats/sstable.md, "Properties".

Three groups share one block: RocksDB's (which its tools and readers ask for), those of lakeFS
(count, bounds, size, type) and ours (lochan.*). Nothing here tells time, host or version of the
writer: equal rows must give equal bytes.
"""

from collections.abc import Mapping
from typing import Final

from lochan.errors import InvalidInput
from lochan.kernel.interface import EncodedBlocks
from lochan.kernel.twin.coding import put_fixed32, put_uvarint

COUNT: Final = "count"
ESTIMATED_SIZE: Final = "estimated_size_bytes"
MIN_KEY: Final = "min_key"
MAX_KEY: Final = "max_key"
TYPE: Final = "type"

ID: Final = "lochan.id"
ID_FORMULA: Final = "lochan.id_formula"
CUT: Final = "lochan.cut"

INDEX_TYPE: Final = "rocksdb.block.based.table.index.type"
INDEX_KEY_IS_USER_KEY: Final = "rocksdb.index.key.is.user.key"
INDEX_VALUE_IS_DELTA: Final = "rocksdb.index.value.is.delta.encoded"
NUM_ENTRIES: Final = "rocksdb.num.entries"
NUM_DATA_BLOCKS: Final = "rocksdb.num.data.blocks"
NUM_RANGE_DELETIONS: Final = "rocksdb.num.range-deletions"
RAW_KEY_SIZE: Final = "rocksdb.raw.key.size"

SEED_001: Final = b"seed-001"  # the formula of docs/formats/ids.md
ONE_LEVEL, TWO_LEVEL = put_fixed32(0), put_fixed32(2)

_COMPRESSION_OPTIONS = (
    b"window_bits=-14; level=32767; strategy=0; max_dict_bytes=0; zstd_max_train_bytes=0;"
    b" enabled=0; "
)

_CONSTANT: Final[Mapping[str, bytes]] = {
    "rocksdb.block.based.table.prefix.filtering": b"0",
    "rocksdb.block.based.table.whole.key.filtering": b"0",
    "rocksdb.column.family.id": put_uvarint(0x7FFFFFFF),
    "rocksdb.comparator": b"leveldb.BytewiseComparator",
    "rocksdb.compression": b"Snappy",
    "rocksdb.compression_options": _COMPRESSION_OPTIONS,
    "rocksdb.creation.time": b"\x00",
    "rocksdb.deleted.keys": b"\x00",
    "rocksdb.external_sst_file.global_seqno": bytes(8),
    "rocksdb.external_sst_file.version": put_fixed32(2),
    "rocksdb.filter.size": b"\x00",
    "rocksdb.fixed.key.length": b"\x00",
    "rocksdb.format.version": b"\x00",
    INDEX_KEY_IS_USER_KEY: b"\x00",
    INDEX_VALUE_IS_DELTA: b"\x00",
    "rocksdb.merge.operands": b"\x00",
    "rocksdb.merge.operator": b"pebble.concatenate",
    NUM_RANGE_DELETIONS: b"\x00",
    "rocksdb.oldest.key.time": b"\x00",
    "rocksdb.prefix.extractor.name": b"nullptr",
    "rocksdb.property.collectors": b"[static]",
}


def describe_blocks(encoded: EncodedBlocks, count: int) -> dict[str, bytes]:
    """Give RocksDB's properties of encoded rows."""
    described = {
        **_CONSTANT,
        INDEX_TYPE: TWO_LEVEL if encoded.index_partitions else ONE_LEVEL,
        "rocksdb.data.size": put_uvarint(encoded.data_size),
        "rocksdb.index.size": put_uvarint(encoded.index_size),
        NUM_DATA_BLOCKS: put_uvarint(encoded.data_blocks),
        NUM_ENTRIES: put_uvarint(count),
        RAW_KEY_SIZE: put_uvarint(encoded.raw_key_size),
        "rocksdb.raw.value.size": put_uvarint(encoded.raw_value_size),
    }
    if encoded.index_partitions:
        described["rocksdb.index.partitions"] = put_uvarint(encoded.index_partitions)
        described["rocksdb.top-level.index.size"] = put_uvarint(encoded.top_level_index_size)
    return described


def join(ours: Mapping[str, bytes], extra: Mapping[str, bytes]) -> list[tuple[bytes, bytes]]:
    """Put all properties of a file into stored order; extra ones may not replace ours."""
    taken = sorted(ours.keys() & extra.keys())
    if taken:
        raise InvalidInput(f"properties {', '.join(taken)} are written by the table writer itself")
    return sorted((name.encode(), value) for name, value in {**ours, **extra}.items())
