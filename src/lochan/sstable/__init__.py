# SPDX-License-Identifier: Apache-2.0
"""Table files: sorted rows in RocksDB's block-based format, version 2.

A range and a metarange are each one such file, written once and never changed. The rows and their
index are the kernel's work; this folder adds what makes them a file: properties, metaindex, footer.
Reader and writer share `format` and `properties` and nothing else.

Reading order: format (handles, footer), properties (what a file says about itself), writer, reader.
Byte layout with a worked dump: docs/formats/sstable.md.

Invariants: equal records, kind and extra properties give equal bytes, whatever the machine, time or
kernel. Every byte of a file is under a checksum or has one legal value, so no change of a single
byte goes unseen by `read_table` and `verify`. Input is hostile until it is checked.
"""

from lochan.sstable.reader import StoredTable, read_table
from lochan.sstable.writer import TableFile, write_table

__all__ = ["StoredTable", "TableFile", "read_table", "write_table"]
