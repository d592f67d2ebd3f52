# SPDX-License-Identifier: Apache-2.0
"""Write a table file: rows and index from the kernel, then properties, metaindex and footer.

The id needs every row and the bytes need every row, but neither needs the other until the end, so
the two run side by side where an executor is given and nobody breathes.
"""

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from sys import maxsize

from lochan.kernel.chosen import kernel as chosen
from lochan.kernel.interface import Breathe, EncodedBlocks, Kernel
from lochan.kernel.records import Records
from lochan.kernel.twin.block_builder import RAW, TRAILER_LENGTH, BlockBuilder, seal
from lochan.sstable import properties
from lochan.sstable.format import PROPERTIES_NAME, BlockHandle, Footer, put_footer, put_handle


@dataclass(frozen=True, slots=True)
class TableFile:
    """A finished file: its name, its bytes, and what a row of a metarange says about it."""

    id: str
    parts: tuple[bytes | memoryview, bytes]  # rows and index, then all that follows them
    min_key: bytes
    max_key: bytes
    count: int
    raw_size: int
    estimated_size: int

    @property
    def size_bytes(self) -> int:
        """The length of the file."""
        return sum(map(len, self.parts))

    @property
    def data(self) -> bytes:
        """The file as one string: a copy, where `parts` serve without one."""
        return b"".join(self.parts)


def write_table(
    records: Records,
    kind: str,
    extra: Mapping[str, bytes],
    *,
    executor: Executor | None = None,
    breathe: Breathe = None,
    kernel: Kernel = chosen,
) -> TableFile:
    """Make a file of sorted records; `kind` is its type property, "ranges" or "metaranges".

    Where `breathe` is given, the caller does everything and it is called between stretches of rows.
    Raises InvalidInput unless keys strictly increase and every row has an identity.
    """
    encoded, digest = _encode_and_name(records, executor, breathe, kernel)
    count = len(records)
    min_key, max_key = (records.keys[0], records.keys[count - 1]) if count else (b"", b"")
    described = {
        **properties.describe_blocks(encoded, count),
        properties.COUNT: b"%d" % count,
        properties.ESTIMATED_SIZE: b"%d" % encoded.estimated_size,
        properties.MIN_KEY: min_key,
        properties.MAX_KEY: max_key,
        properties.TYPE: kind.encode(),
        properties.ID: digest.hex().encode(),
        properties.ID_FORMULA: properties.SEED_001,
    }
    tail = _tail(encoded, properties.join(described, extra), kernel)
    return TableFile(
        id=digest.hex(),
        parts=(encoded.body, tail),
        min_key=min_key,
        max_key=max_key,
        count=count,
        raw_size=records.raw_size,
        estimated_size=encoded.estimated_size,
    )


def _encode_and_name(
    records: Records,
    executor: Executor | None,
    breathe: Breathe,
    kernel: Kernel,
) -> tuple[EncodedBlocks, bytes]:
    if executor is None or breathe is not None:
        return kernel.encode(records, breathe), kernel.file_id(records, breathe)
    naming = executor.submit(kernel.file_id, records)
    try:
        encoded = kernel.encode(records)
    except BaseException:
        if not naming.cancel():
            naming.exception()  # nothing of ours goes on after we have failed
        raise
    # A pool whose threads all run this function never gets to the second half: take it back.
    if naming.cancel():
        return encoded, kernel.file_id(records)
    return encoded, naming.result()


def _tail(encoded: EncodedBlocks, rows: list[tuple[bytes, bytes]], kernel: Kernel) -> bytes:
    """Give what follows the index: properties, metaindex and footer, never compressed."""
    # One restart point for all properties: RocksDB finds its sequence number in there by position.
    block = BlockBuilder(restart_interval=maxsize)
    for name, value in rows:
        block.add(name, value)
    stored = seal(block.finish(), RAW, kernel.crc32c)
    named = BlockHandle(len(encoded.body), len(stored) - TRAILER_LENGTH)
    metaindex = BlockBuilder(restart_interval=1)
    metaindex.add(PROPERTIES_NAME, put_handle(named))
    stored_metaindex = seal(metaindex.finish(), RAW, kernel.crc32c)
    footer = Footer(
        BlockHandle(named.end, len(stored_metaindex) - TRAILER_LENGTH),
        BlockHandle(encoded.index_offset, encoded.index_length),
    )
    return stored + stored_metaindex + put_footer(footer)
