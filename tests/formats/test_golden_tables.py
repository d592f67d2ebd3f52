# SPDX-License-Identifier: Apache-2.0
"""Files that were written once and must be read, and written byte for byte the same, for ever.

A change that makes one of these fail changes the names and sizes of everything ever committed.
"""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from lochan.kernel.interface import Kernel
from lochan.kernel.twin.value_record import join_value
from lochan.sstable import read_table, write_table
from support.table_samples import CUT, sample_metarange, sample_range, tiny_range

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent.parent / "docs" / "formats"

GOLDEN = {
    "tiny": (tiny_range(), "ranges"),
    "range": (sample_range(), "ranges"),
    "metarange": (sample_metarange(), "metaranges"),
}
IDS = {
    "tiny": "547885fe976e86743df6bfcfcdf262098b35310b44ee885e3a235df0bf50753c",
    "range": "3f9cd88a8f50240ddbfcf4d9f2c4fb08a72b0a4e2f270222583fa241e417a6a0",
    "metarange": "3527387ee144bfe8e2b6263d501c36924d58eb34813714aef4f667739779f39b",
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_is_read(kernel: Kernel, name: str) -> None:
    opened = read_table((HERE / f"{name}.sst").read_bytes(), IDS[name], kernel=kernel)
    records, kind = GOLDEN[name]
    assert list(opened.records()) == list(records)
    assert opened.verify() == len(records)
    assert opened.properties["type"] == kind.encode()


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_is_what_we_write_today(kernel: Kernel, name: str) -> None:
    records, kind = GOLDEN[name]
    made = write_table(records, kind, CUT, kernel=kernel)
    assert made.id == IDS[name]
    assert made.data == (HERE / f"{name}.sst").read_bytes()


DUMP_LINE = re.compile(r"^([0-9a-f]{8})  ((?:[0-9a-f]{2} )*[0-9a-f]{2})(?:  |$)", re.MULTILINE)
PROPERTIES_LEFT_OUT = range(0x88, 0x3A5)  # from the digits of the id to the last property


def test_the_dump_of_the_format_page_is_the_tiny_file() -> None:
    data = (HERE / "tiny.sst").read_bytes()
    shown = dict.fromkeys(PROPERTIES_LEFT_OUT, -1)
    for offset, digits in DUMP_LINE.findall((DOCS / "sstable.md").read_text()):
        line = bytes.fromhex(digits)
        start = int(offset, 16)
        assert data[start : start + len(line)] == line
        shown |= dict.fromkeys(range(start, start + len(line)), 1)
    assert sorted(shown) == list(range(len(data)))


def test_rel_D1_the_ids_page_computes_the_id_of_the_tiny_file() -> None:
    page = (DOCS / "ids.md").read_text()
    keys = [sha256(row.key).digest() for row in tiny_range()]
    records = [join_value(row.identity, row.value) for row in tiny_range()]
    values = [sha256(record).digest() for record in records]
    ids = [sha256(key + value).digest() for key, value in zip(keys, values, strict=True)]
    for step in (keys[0], records[0], values[0], *ids, sha256(b"".join(ids)).digest()):
        assert f"`{step.hex()}`" in page
    assert f"`{sha256(b'').hexdigest()}`" in page
