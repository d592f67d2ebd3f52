# SPDX-License-Identifier: Apache-2.0
from concurrent.futures import ThreadPoolExecutor

import pytest

from lochan.errors import InvalidInput
from lochan.kernel.interface import STRETCH_ROWS, Kernel
from lochan.kernel.records import EMPTY, Records
from lochan.sstable import TableFile, read_table, write_table
from lochan.sstable.format import FOOTER_LENGTH, get_footer
from lochan.sstable.properties import COUNT
from support.table_samples import CUT, data_blocks, sample_metarange, sample_range, tiny_range


def test_what_a_file_says_about_itself_is_what_was_written(kernel: Kernel) -> None:
    records = sample_range()
    made = write_table(records, "ranges", CUT, kernel=kernel)
    assert (made.min_key, made.max_key) == (records.keys[0], records.keys[-1])
    assert (made.count, made.raw_size) == (len(records), records.raw_size)
    assert made.id == kernel.file_id(records).hex()


def test_who_breathes_makes_the_same_file_without_the_executor(kernel: Kernel) -> None:
    records = Records.of((b"%05d" % number, b"i", b"") for number in range(STRETCH_ROWS + 1))
    breaths = list[None]()
    with ThreadPoolExecutor(1) as threads:
        threads.shutdown()  # it would refuse
        made = write_table(
            records,
            "ranges",
            CUT,
            executor=threads,
            breathe=lambda: breaths.append(None),
            kernel=kernel,
        )
    assert made == write_table(records, "ranges", CUT, kernel=kernel)
    assert len(breaths) == 2


def test_the_footer_is_53_bytes_of_handles_version_and_magic(kernel: Kernel) -> None:
    data = write_table(tiny_range(), "ranges", CUT, kernel=kernel).data
    footer = get_footer(data, "sample")
    assert data[-12:] == bytes.fromhex("02000000 f7cff485b741e288")
    assert data[-FOOTER_LENGTH] == 1
    assert data[-FOOTER_LENGTH + 8 : -12] == bytes(33)
    assert footer.metaindex.end == len(data) - FOOTER_LENGTH


# What a file of lakeFS carries, and ours; written out, so that no constant can change unseen.
TINY_PROPERTIES = {
    "count": b"2",
    "estimated_size_bytes": b"68",
    "lochan.cut": b"end",
    "lochan.id": b"",
    "lochan.id_formula": b"seed-001",
    "max_key": b"a/2",
    "min_key": b"a/1",
    "rocksdb.block.based.table.index.type": bytes(4),
    "rocksdb.block.based.table.prefix.filtering": b"0",
    "rocksdb.block.based.table.whole.key.filtering": b"0",
    "rocksdb.column.family.id": b"\xff\xff\xff\xff\x07",
    "rocksdb.comparator": b"leveldb.BytewiseComparator",
    "rocksdb.compression": b"Snappy",
    "rocksdb.compression_options": b"window_bits=-14; level=32767; strategy=0; max_dict_bytes=0; "
    b"zstd_max_train_bytes=0; enabled=0; ",
    "rocksdb.creation.time": b"\0",
    "rocksdb.data.size": b"\x36",
    "rocksdb.deleted.keys": b"\0",
    "rocksdb.external_sst_file.global_seqno": bytes(8),
    "rocksdb.external_sst_file.version": b"\x02\0\0\0",
    "rocksdb.filter.size": b"\0",
    "rocksdb.fixed.key.length": b"\0",
    "rocksdb.format.version": b"\0",
    "rocksdb.index.key.is.user.key": b"\0",
    "rocksdb.index.size": b"\x1b",
    "rocksdb.index.value.is.delta.encoded": b"\0",
    "rocksdb.merge.operands": b"\0",
    "rocksdb.merge.operator": b"pebble.concatenate",
    "rocksdb.num.data.blocks": b"\x01",
    "rocksdb.num.entries": b"\x02",
    "rocksdb.num.range-deletions": b"\0",
    "rocksdb.oldest.key.time": b"\0",
    "rocksdb.prefix.extractor.name": b"nullptr",
    "rocksdb.property.collectors": b"[static]",
    "rocksdb.raw.key.size": b"\x16",
    "rocksdb.raw.value.size": b"\x1e",
    "type": b"ranges",
}


def test_the_properties_are_those_of_the_format_page(kernel: Kernel) -> None:
    made = write_table(tiny_range(), "ranges", CUT, kernel=kernel)
    found = dict(read_table(made.data, made.id, kernel=kernel).properties)
    assert found == TINY_PROPERTIES | {"lochan.id": made.id.encode()}
    assert list(found) == sorted(found)


def test_a_two_level_index_has_two_more_properties(kernel: Kernel) -> None:
    made = write_table(sample_metarange(), "metaranges", {}, kernel=kernel)
    found = read_table(made.data, made.id, kernel=kernel).properties
    more = {"rocksdb.index.partitions", "rocksdb.top-level.index.size"}
    assert found.keys() - TINY_PROPERTIES.keys() == more
    assert found["rocksdb.block.based.table.index.type"] == b"\x02\0\0\0"


def test_the_estimated_size_counts_stored_blocks_and_open_ones(kernel: Kernel) -> None:
    made = write_table(sample_range(), "ranges", CUT, kernel=kernel)
    *flushed, last = data_blocks(made.data, kernel)
    index = get_footer(made.data, "sample").index
    *separators, _ = kernel.decode_block(made.data, *index, "sample")
    last_raw = kernel.decompress(made.data[last.offset : last.offset + last.length])
    open_index = sum(3 + len(key) + len(value) + 4 for key, value in separators) + 4
    assert len(flushed) >= 2
    assert made.estimated_size == last.offset + len(last_raw) + open_index


def test_a_table_without_rows_is_a_file_too(kernel: Kernel) -> None:
    made = write_table(EMPTY, "ranges", {}, kernel=kernel)
    opened = read_table(made.data, made.id, kernel=kernel)
    assert (opened.verify(), made.min_key, made.max_key, made.estimated_size) == (0, b"", b"", 8)


def test_two_threads_give_the_same_file(kernel: Kernel) -> None:
    alone = write_table(sample_range(), "ranges", CUT, kernel=kernel)
    with ThreadPoolExecutor(2) as pool:
        assert write_table(sample_range(), "ranges", CUT, executor=pool, kernel=kernel) == alone


def test_a_pool_that_is_busy_writing_tables_does_not_wait_for_itself(kernel: Kernel) -> None:
    with ThreadPoolExecutor(1) as pool:

        def write() -> TableFile:
            return write_table(tiny_range(), "ranges", CUT, executor=pool, kernel=kernel)

        assert pool.submit(write).result(timeout=30).count == 2


@pytest.mark.parametrize("name", [COUNT, "lochan.id", "rocksdb.comparator"])
def test_an_extra_property_may_not_replace_ours(kernel: Kernel, name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        write_table(tiny_range(), "ranges", {name: b"x"}, kernel=kernel)


def test_unsorted_records_are_refused(kernel: Kernel) -> None:
    unsorted = Records.of([(b"b", b"i", b""), (b"a", b"i", b"")])
    with pytest.raises(InvalidInput), ThreadPoolExecutor(1) as pool:
        write_table(unsorted, "ranges", {}, executor=pool, kernel=kernel)
