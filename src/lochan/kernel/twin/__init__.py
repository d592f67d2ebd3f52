# SPDX-License-Identifier: Apache-2.0
"""The kernel in plain Python: slow, without dependencies, and the specification of the native one.

It serves where no compiler was found, and travels to Spark executors of another platform. Reading
order, from bytes to rows: coding, checksum, snappy, hashing, value_record; then block_builder,
separator, table_builder (write) against block_reader, table_reader (read); then rows, changes and
three_way, which know nothing of files, staged, entry_columns, entry_objects, entry_encoding and
hash_set.
Formats: docs/formats/{sstable,ids,records}.md.

This module offers exactly the names of `lochan.kernel.interface.Kernel`, so the module itself is
the kernel.
"""

from lochan.kernel.twin.block_reader import decode_block
from lochan.kernel.twin.changes import diff, overlay
from lochan.kernel.twin.checksum import crc32c
from lochan.kernel.twin.entry_columns import decode_entries
from lochan.kernel.twin.entry_encoding import encode_objects
from lochan.kernel.twin.entry_objects import entry_objects
from lochan.kernel.twin.hash_set import hash_set
from lochan.kernel.twin.hashing import file_id, fnv1a64
from lochan.kernel.twin.mapping import map_file
from lochan.kernel.twin.rows import concat, cut_points, inverse, lower_bound, sort_order, take
from lochan.kernel.twin.snappy import compress, decompress
from lochan.kernel.twin.staged import decode_staged
from lochan.kernel.twin.table_builder import encode
from lochan.kernel.twin.table_reader import open_table
from lochan.kernel.twin.three_way import merge

__all__ = [
    "compress",
    "concat",
    "crc32c",
    "cut_points",
    "decode_block",
    "decode_entries",
    "decode_staged",
    "decompress",
    "diff",
    "encode",
    "encode_objects",
    "entry_objects",
    "file_id",
    "fnv1a64",
    "hash_set",
    "inverse",
    "lower_bound",
    "map_file",
    "merge",
    "open_table",
    "overlay",
    "sort_order",
    "take",
]
