# SPDX-License-Identifier: Apache-2.0
"""What a Python programmer would use instead: RocksDB through rocksdict, and hashlib.

The same records, the same format (version 2, snappy, CRC32C), RocksDB's defaults otherwise.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from rocksdict import (
    BlockBasedOptions,
    DBCompressionType,
    Options,
    Rdict,
    SstFileWriter,
)

from lochan.kernel.records import Records
from lochan.kernel.twin.value_record import join_value

Pairs = list[tuple[bytes, bytes]]


def options() -> Options:
    """Give the options of a plain store of bytes."""
    found = Options(raw_mode=True)
    blocks = BlockBasedOptions()
    blocks.set_format_version(2)
    found.set_block_based_table_factory(blocks)
    found.set_compression_type(DBCompressionType.snappy())
    return found


def pairs(records: Records) -> Pairs:
    """Turn records into what RocksDB stores: key and encoded value record."""
    return [(row.key, join_value(row.identity, row.value)) for row in records]


def write(path: Path, rows: Pairs) -> None:
    """Write one table file."""
    writer = SstFileWriter(options())
    writer.open(str(path))
    for key, value in rows:
        writer[key] = value
    writer.finish()


def ingest(folder: Path, table: Path) -> Rdict:
    """Make a store of one table file, which is how rocksdict reads one."""
    store = Rdict(str(folder), options())
    store.ingest_external_file([str(table)])
    return store


def merge(store: Rdict, changes: Pairs, path: Path) -> str:
    """Apply sorted changes to a store's rows: iterate, merge, hash, write; gives the file's id."""
    writer = SstFileWriter(options())
    writer.open(str(path))
    name = hashlib.sha256()
    for key, value in _merged(store, changes):
        record = hashlib.sha256(hashlib.sha256(key).digest() + hashlib.sha256(value).digest())
        name.update(record.digest())
        writer[key] = value
    writer.finish()
    return name.hexdigest()


def _merged(store: Rdict, changes: Pairs) -> Iterator[tuple[bytes, bytes]]:
    following = iter(changes)
    change = next(following, None)
    rows = cast("Iterator[tuple[bytes, bytes]]", store.items())  # raw mode has nothing but bytes
    for row in rows:
        while change is not None and change[0] < row[0]:
            yield change
            change = next(following, None)
        if change is not None and change[0] == row[0]:
            yield change
            change = next(following, None)
        else:
            yield row
    if change is not None:
        yield change
    yield from following
