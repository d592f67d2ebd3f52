# SPDX-License-Identifier: Apache-2.0
"""The kernel in Cython: the twin's functions, without the interpreter lock and with bounds checks.

Bottom up: coding (varints), buffers (columns), crc32c, snappy, sha256; then ids, encode (writes
blocks), blocks (reads one), table (reads a file), rows (algebra of sorted records). C is used only
where the processor's own instructions are called for.
"""

from lochan.kernel.native.blocks import decode_block
from lochan.kernel.native.crc32c import crc32c
from lochan.kernel.native.encode import encode
from lochan.kernel.native.ids import cut_points, file_id, fnv1a64
from lochan.kernel.native.rows import (
    concat,
    diff,
    lower_bound,
    merge,
    overlay,
    sort_order,
    take,
)
from lochan.kernel.native.snappy import compress, decompress
from lochan.kernel.native.table import open_table

__all__ = [
    "compress",
    "concat",
    "crc32c",
    "cut_points",
    "decode_block",
    "decompress",
    "diff",
    "encode",
    "file_id",
    "fnv1a64",
    "lower_bound",
    "merge",
    "open_table",
    "overlay",
    "sort_order",
    "take",
]
