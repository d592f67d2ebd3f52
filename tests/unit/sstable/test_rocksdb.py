# SPDX-License-Identifier: Apache-2.0
"""RocksDB itself as the judge: its tools read our files, and we read files that it wrote."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from rocksdict import (
    BlockBasedIndexType,
    BlockBasedOptions,
    ChecksumType,
    DBCompressionType,
    Options,
    Rdict,
    SstFileWriter,
)

from lochan.errors import Corruption
from lochan.kernel.interface import Kernel
from lochan.kernel.records import EMPTY, Records
from lochan.kernel.twin.value_record import join_value
from lochan.sstable import read_table, write_table
from support.record_strategies import Rows, rows, to_records, to_rows
from support.table_samples import sample_metarange, sample_range

SAMPLES = {"range": sample_range(), "metarange": sample_metarange(), "empty": EMPTY}


def sst_dump(file: Path, *arguments: str) -> str:
    if not shutil.which("sst_dump"):
        pytest.skip("SST_DUMP NOT RUN: install Debian's rocksdb-tools to judge our files by it")
    command = ["sst_dump", f"--file={file}", *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    return (done.stdout + done.stderr).decode(errors="replace")


@pytest.mark.parametrize("kind", SAMPLES)
def test_sst_dump_finds_our_files_whole(kernel: Kernel, tmp_path: Path, kind: str) -> None:
    made = write_table(SAMPLES[kind], "ranges", {}, kernel=kernel)
    file = tmp_path / "sample.sst"
    file.write_bytes(made.data)
    assert "The file is ok" in sst_dump(file, "--command=verify")
    assert sst_dump(file, "--command=scan").count(" seq:0, type:1 => ") == made.count


def test_sst_dump_shows_our_properties(kernel: Kernel, tmp_path: Path) -> None:
    made = write_table(sample_metarange(), "metaranges", {"lochan.cut": b"end"}, kernel=kernel)
    file = tmp_path / "sample.sst"
    file.write_bytes(made.data)
    shown = sst_dump(file, "--show_properties")
    assert f"# entries: {made.count}\n" in shown
    assert "# index partitions: 3\n" in shown
    assert f"# lochan.id: 0x{made.id.encode().hex().upper()}\n" in shown
    assert f"# lochan.cut: 0x{b'end'.hex().upper()}\n" in shown


def ingested(data: bytes, folder: Path) -> dict[bytes, bytes]:
    """Let RocksDB take a file in and list its rows."""
    file = folder / "sample.sst"
    file.write_bytes(data)
    store = Rdict(str(folder / "db"), Options(raw_mode=True))
    try:
        store.ingest_external_file([str(file)])
        return dict(cast("Iterator[tuple[bytes, bytes]]", store.items()))  # bytes: raw mode
    finally:
        store.close()


@pytest.mark.parametrize("kind", ["range", "metarange"])
def test_rocksdb_ingests_our_files(kernel: Kernel, tmp_path: Path, kind: str) -> None:
    records = SAMPLES[kind]
    found = ingested(write_table(records, "ranges", {}, kernel=kernel).data, tmp_path)
    assert found == {row.key: join_value(row.identity, row.value) for row in records}


def written_by_rocksdb(
    records: Records,
    folder: Path,
    *,
    version: int = 2,
    two_level: bool = False,
    snappy: bool = True,
) -> bytes:
    table = BlockBasedOptions()
    table.set_format_version(version)
    table.set_checksum_type(ChecksumType.crc32c())
    if two_level:
        table.set_index_type(BlockBasedIndexType.two_level_index_search())
        table.set_metadata_block_size(256)
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(table)
    kinds = DBCompressionType
    options.set_compression_type(kinds.snappy() if snappy else kinds.none())
    file = folder / "theirs.sst"
    writer = SstFileWriter(options)
    writer.open(str(file))
    for row in records:
        writer[row.key] = join_value(row.identity, row.value)
    writer.finish()
    return file.read_bytes()


@pytest.mark.parametrize(
    "options",
    [{}, {"two_level": True}, {"snappy": False}, {"two_level": True, "snappy": False}],
    ids=["one level", "two levels", "raw", "two levels raw"],
)
def test_we_read_files_of_rocksdb(kernel: Kernel, tmp_path: Path, options: dict[str, bool]) -> None:
    records = Records.of((b"key %06d" % i, b"id %d" % i, b"value" * (i % 30)) for i in range(2000))
    data = written_by_rocksdb(records, tmp_path, **options)
    opened = read_table(data, "theirs.sst", kernel=kernel)
    assert ("rocksdb.index.partitions" in opened.properties) == ("two_level" in options)
    assert opened.verify() == len(records)
    assert list(opened.records()) == list(records)
    assert list(opened.get_many(records.keys)) == list(records)
    assert opened.get(b"key 000777") == (b"id 777", b"value" * 27)
    assert opened.get(b"key") is None


@given(rows(20).filter(bool))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_we_read_what_rocksdb_wrote_of_any_rows(kernel: Kernel, tmp_path: Path, rows: Rows) -> None:
    data = written_by_rocksdb(to_records(rows), tmp_path)
    assert to_rows(read_table(data, "theirs.sst", kernel=kernel).records()) == rows


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_newer_format_version_of_rocksdb_is_refused_by_its_number(
    kernel: Kernel, tmp_path: Path, version: int
) -> None:
    data = written_by_rocksdb(sample_range(), tmp_path, version=version)
    with pytest.raises(Corruption, match=f"version {version} is not supported"):
        read_table(data, "theirs.sst", kernel=kernel)


def test_a_deletion_in_a_file_of_rocksdb_is_refused(kernel: Kernel, tmp_path: Path) -> None:
    file = tmp_path / "theirs.sst"
    table = BlockBasedOptions()
    table.set_format_version(2)
    table.set_checksum_type(ChecksumType.crc32c())
    options = Options(raw_mode=True)
    options.set_block_based_table_factory(table)
    writer = SstFileWriter(options)
    writer.open(str(file))
    writer[b"a"] = join_value(b"i", b"v")
    del writer[b"b"]
    writer.finish()
    with pytest.raises(Corruption, match=r"theirs\.sst is damaged at offset 0"):
        read_table(file.read_bytes(), "theirs.sst", kernel=kernel).verify()
