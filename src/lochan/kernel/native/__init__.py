# SPDX-License-Identifier: Apache-2.0
"""The kernel in Cython: the twin's functions, without the interpreter lock and with bounds checks.

Bottom up: coding (varints), buffers (columns), growing (bytes), checksum, snappy, sha256; then ids;
encoding (writes blocks); blocks (reads one), decoding (its rows into columns), index and table
(read a file); rows (sort, pick, join), staged (rows not committed yet), entry_columns,
entry_objects and entry_encoding (what rows say), hash_set (which objects are known), and algebra
(overlay, diff, merge). C is used only where the processor's own instructions or pages are called
for.
"""

from lochan.kernel.native.algebra import diff, merge, overlay
from lochan.kernel.native.blocks import decode_block
from lochan.kernel.native.checksum import crc32c
from lochan.kernel.native.encoding import encode
from lochan.kernel.native.entry_columns import decode_entries
from lochan.kernel.native.entry_encoding import encode_objects
from lochan.kernel.native.entry_objects import entry_objects
from lochan.kernel.native.hash_set import hash_set
from lochan.kernel.native.ids import cut_points, file_id, fnv1a64
from lochan.kernel.native.mapping import map_file
from lochan.kernel.native.rows import concat, inverse, lower_bound, sort_order, take
from lochan.kernel.native.snappy import compress, decompress
from lochan.kernel.native.staged import decode_staged
from lochan.kernel.native.table import open_table

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
