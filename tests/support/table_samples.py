# SPDX-License-Identifier: Apache-2.0
"""Sample rows for table files, small enough to read, large enough to have every kind of block.

The golden files under tests/formats are made of them: changing a sample changes a golden file.
"""

from hashlib import sha256

from lochan.kernel.interface import EncodedBlocks, Kernel
from lochan.kernel.records import Records
from lochan.sstable import write_table, writer
from lochan.sstable.format import BlockHandle, get_footer, get_handle

CUT = {"lochan.cut": b"end"}


def tiny_range() -> Records:
    """Two rows in one block: the file that docs/formats/sstable.md takes apart."""
    return Records.of([(b"a/1", b"identity 1", b"one"), (b"a/2", b"identity 2", b"two")])


def sample_range() -> Records:
    """Objects of one folder: several data blocks under one index block."""
    return Records.of(
        (
            b"events/year=2024/part-%05d.parquet" % number,
            sha256(b"%d" % number).digest(),
            b"\x0a\x1adata/gk3l2v/c7%012d\x18%c" % (number, number % 128),
        )
        for number in range(110)
    )


def sample_metarange() -> Records:
    """Ranges with long keys: so few separators fill an index block that it has a second level."""
    rows = []
    low = b"a" * 900
    for number in range(20):
        high = b"a" * 900 + b"/%03d\xff\xff" % number
        bounds = b"\x0a" + _length(low) + low + b"\x12" + _length(high) + high
        rows.append(
            (high, sha256(b"%d" % number).hexdigest().encode(), bounds + b"\x18\x40\x20\x07")
        )
        low = high
    return Records.of(rows)


def _length(data: bytes) -> bytes:
    return bytes((len(data) & 0x7F | 0x80, len(data) >> 7))


def data_blocks(file: bytes, kernel: Kernel) -> list[BlockHandle]:
    """List the handles of a file's data blocks, from an index of one level."""
    index = get_footer(file, "sample").index
    return [get_handle(value, 0)[0] for _, value in kernel.decode_block(file, *index, "sample")]


def with_properties(file: bytes, kernel: Kernel, **changed: bytes | None) -> bytes:
    """Write a file's end anew with some properties changed (dots as __) or, for None, left out."""
    footer = get_footer(file, "sample")
    (_, stored), *_ = kernel.decode_block(file, *footer.metaindex, "sample")
    handle, _ = get_handle(stored, 0)
    rows: dict[bytes, bytes | None] = dict(kernel.decode_block(file, *handle, "sample"))
    rows |= {name.replace("__", ".").encode(): value for name, value in changed.items()}
    kept = [(name, value) for name, value in sorted(rows.items()) if value is not None]
    body = file[: handle.offset]
    blocks = EncodedBlocks(body, *footer.index, 0, 0, 0, 0, 0, 0, 0, 0)
    return body + writer._tail(blocks, kept, kernel)


def written(records: Records, kind: str, kernel: Kernel) -> tuple[str, bytes]:
    """Write a sample; give its name and bytes."""
    made = write_table(records, kind, CUT, kernel=kernel)
    return made.id, made.data
