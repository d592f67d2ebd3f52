# SPDX-License-Identifier: Apache-2.0
"""Where tasks cannot reach the storage, the server gives and takes all that they need."""

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql.types import StructType

import lochan
from lochan.client import Lake, Repository
from lochan.model.uri import Uri, parse_uri
from lochan.spark.arrow_write import write_rows
from lochan.spark.batch_read import FilesPartition, FilesReader
from lochan.spark.batch_write import FilesWritten, new_writer
from lochan.spark.known_lake import KnownLake
from lochan.spark.reach import find_reach
from lochan.spark.stream_sink import land, new_sink
from lochan.spark.table_plan import plan_table
from lochan.spark.table_rows import arrow_of, table_schema
from support.server import KEY_ID, KEY_SECRET, running_server

SCHEMA = StructType().add("n", "long")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder: Path = tmp_path_factory.mktemp("served")
    with (
        running_server(folder, workers=1) as server,
        lochan.connect(server.url, access_key_id=KEY_ID, secret_access_key=KEY_SECRET) as lake,
    ):
        yield lake


@pytest.fixture(scope="module")
def shop(served: Lake) -> Repository:
    return served.repository("shop").create()


def at(repository: Repository, path: str) -> Uri:
    return parse_uri(f"lochan://{repository.id}/main/{path}")


def numbers(known: KnownLake, uri: Uri) -> list[int]:
    reader = FilesReader(known, uri, {}, SCHEMA)
    rows = [batch for task in reader.partitions() for batch in reader.read(task)]
    return sorted(n for batch in rows for n in batch.column("n").to_pylist())


def test_files_and_ranges_come_through_the_server(served: Lake, shop: Repository) -> None:
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table({"n": [1, 2]}), sink)
    shop.branch("main").upload("in/a.parquet", sink.getvalue())
    shop.branch("main").commit("data")
    known = KnownLake.of(served)
    reach = find_reach(known, shop)

    schema = arrow_of(table_schema("objects"))
    tasks = plan_table(served, reach, at(shop, "in"), "objects", schema)

    assert not reach.is_direct
    assert numbers(known, at(shop, "in")) == [1, 2]
    paths = [batch.column("path").to_pylist() for batch in tasks.batches(0)]
    assert paths == [["in/a.parquet"]]


def test_a_write_goes_through_the_server_as_one_commit(served: Lake, shop: Repository) -> None:
    known, uri = KnownLake.of(served), at(shop, "out")
    writer = new_writer(known, uri, {}, SCHEMA, overwrite=False)
    lost = writer.write(iter([pa.record_batch({"n": [7]})]))  # an attempt that nobody counts
    kept = writer.write(iter([pa.record_batch({"n": [8]})]))
    before = shop.commit("main").id

    writer.commit([kept])

    assert isinstance(lost, FilesWritten)
    assert shop.commit("main").parents == [before]
    assert numbers(known, uri) == [8]


def test_a_batch_of_a_stream_goes_through_the_server_once(served: Lake, shop: Repository) -> None:
    known, uri = KnownLake.of(served), at(shop, "stream")
    sink = new_sink(known, uri, {}, SCHEMA, overwrite=False)

    for _ in range(2):
        files = write_rows([pa.record_batch({"n": [1]})], sink.layout, sink.target)
        land(served, sink, files, "query", 0)

    assert numbers(known, uri) == [1]


def test_a_known_lake_shows_no_secret(served: Lake) -> None:
    assert KEY_SECRET not in repr(KnownLake.of(served))
    assert KEY_SECRET not in repr(
        FilesPartition(find_reach(KnownLake.of(served), served.repository("shop")), "", ())
    )
