# SPDX-License-Identifier: Apache-2.0
import pytest

from lochan.errors import Corruption
from lochan.kernel.interface import Kernel
from lochan.kernel.records import Column, Records
from lochan.sstable import read_table
from support.table_samples import (
    sample_metarange,
    sample_range,
    tiny_range,
    with_properties,
    written,
)

SAMPLES = [sample_range(), sample_metarange()]


@pytest.mark.parametrize("records", SAMPLES, ids=["range", "metarange"])
def test_a_file_gives_back_its_rows(kernel: Kernel, records: Records) -> None:
    name, data = written(records, "ranges", kernel)
    opened = read_table(data, name, kernel=kernel)
    assert list(opened.records()) == list(records)
    assert opened.verify() == len(records)
    assert list(opened.get_many(records.keys)) == list(records)
    for key, identity, value in records:
        assert opened.get(key) == (identity, value)
        assert opened.get(key + b"\0") is None


def test_blocks_are_found_and_scanned_by_number(kernel: Kernel) -> None:
    name, data = written(sample_range(), "ranges", kernel)
    opened = read_table(data, name, kernel=kernel)
    key = sample_range().keys[60]
    number = opened.find_block(key)
    assert key in list(opened.scan(number, number + 1).keys)
    assert opened.find_block(b"zzz") == opened.block_count
    assert opened.get(b"zzz") is None
    assert list(opened.get_many(Column.of([b"zzz"]))) == [(b"zzz", b"", b"")]


def test_stretches_together_are_all_rows(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    records = sample_range()
    name, data = written(records, "ranges", kernel)
    table = read_table(data, name, kernel=kernel)
    monkeypatch.setattr("lochan.sstable.reader.STRETCH_BLOCKS", 2)
    found = list(table.stretches())
    assert len(found) == -(-table.block_count // 2) > 1
    assert [row for rows in found for row in rows] == list(records)


def test_stretches_are_bounded_together(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    records = sample_range()
    name, data = written(records, "ranges", kernel)
    table = read_table(data, name, kernel=kernel)
    monkeypatch.setattr("lochan.sstable.reader.STRETCH_BLOCKS", 1)
    monkeypatch.setattr("lochan.sstable.reader.MAX_SCAN", records.raw_size - 1)
    with pytest.raises(Corruption, match="more than any file of ours"):
        list(table.stretches())


def test_a_name_may_be_a_path_that_ends_with_the_id(kernel: Kernel) -> None:
    name, data = written(tiny_range(), "ranges", kernel)
    assert read_table(data, f"_lakefs/{name}", kernel=kernel).verify() == 2


def test_a_file_under_another_name_is_refused(kernel: Kernel) -> None:
    name, data = written(tiny_range(), "ranges", kernel)
    with pytest.raises(Corruption, match=name):
        read_table(data, "0" * 64, kernel=kernel)


@pytest.mark.parametrize("version", [0, 1, 3, 5, 6, 0xFFFFFFFF])
def test_another_format_version_is_refused_by_its_number(kernel: Kernel, version: int) -> None:
    name, data = written(tiny_range(), "ranges", kernel)
    other = data[:-12] + version.to_bytes(4, "little") + data[-8:]
    with pytest.raises(Corruption, match=f"version {version} is not supported"):
        read_table(other, name, kernel=kernel)


@pytest.mark.parametrize(
    "changed",
    [
        {"rocksdb__block__based__table__index__type": b"\x01\0\0\0"},
        {"rocksdb__block__based__table__index__type": None},
        {"rocksdb__index__key__is__user__key": b"\x01"},
        {"rocksdb__index__value__is__delta__encoded": b"\x01"},
        {"rocksdb__num__range-deletions": b"\x01"},
        {"rocksdb__block__based__table__index__type": b"\x02\0\0\0"},
    ],
)
def test_what_would_be_misread_is_refused(kernel: Kernel, changed: dict[str, bytes | None]) -> None:
    name, data = written(tiny_range(), "ranges", kernel)
    with pytest.raises(Corruption, match=name):
        read_table(with_properties(data, kernel, **changed), name, kernel=kernel)


@pytest.mark.parametrize(
    "changed",
    [
        {"count": b"3"},
        {"rocksdb__num__entries": b"\x03"},
        {"rocksdb__num__data__blocks": b"\x02"},
        {"rocksdb__raw__key__size": b"\x17"},
        {"min_key": b"a/0"},
        {"max_key": b"a/3"},
        {"lochan__id": b"0" * 64},
    ],
)
def test_properties_that_contradict_the_rows_fail_verify(
    kernel: Kernel, changed: dict[str, bytes | None]
) -> None:
    name, data = written(tiny_range(), "ranges", kernel)
    name = "0" * 64 if "lochan__id" in changed else name
    opened = read_table(with_properties(data, kernel, **changed), name, kernel=kernel)
    with pytest.raises(Corruption, match="the rows say") as caught:
        opened.verify()
    assert (caught.value.file, caught.value.offset) == (name, opened.properties_offset)


def test_a_file_without_our_properties_is_read(kernel: Kernel) -> None:
    _, data = written(tiny_range(), "ranges", kernel)
    bare = with_properties(data, kernel, lochan__id=None, lochan__id_formula=None, count=None)
    assert read_table(bare, "any name", kernel=kernel).verify() == 2
