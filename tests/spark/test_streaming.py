# SPDX-License-Identifier: Apache-2.0
"""A branch as a stream and as a sink: each commit once, each batch once, whoever dies when."""

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from pyspark.sql.types import StructType

from lochan.client import Lake, Repository
from lochan.errors import Conflict
from lochan.model.uri import parse_uri
from lochan.spark.arrow_write import write_rows
from lochan.spark.batch_read import FilesPartition
from lochan.spark.known_lake import KnownLake
from lochan.spark.stream_sink import BATCH, QUERY, StreamSink, land, new_sink
from lochan.spark.stream_source import CommitStream
from support.mortal_lake import Killed, die, mortal

LIMIT = ReadMaxFiles(1000)


def put(repository: Repository, path: str, *numbers: int) -> str:
    sink = io.BytesIO()
    pa.parquet.write_table(pa.table({"n": list(numbers)}), sink)
    repository.branch("main").upload(path, sink.getvalue())
    return repository.branch("main").commit(f"put {path}").id


def stream(lake: Lake, repository: Repository, **options: str) -> CommitStream:
    uri = parse_uri(f"lochan://{repository.id}/main/in")
    return CommitStream(KnownLake.of(lake), uri, options, StructType())


def paths(found: CommitStream, start: dict[str, object], end: dict[str, object]) -> list[str]:
    tasks = found.partitions(start, end)
    return [
        file.path for task in tasks if isinstance(task, FilesPartition) for file, _ in task.files
    ]


def walk(found: CommitStream) -> list[list[str]]:
    """Read to the end, batch by batch."""
    batches, place = [], found.initialOffset()
    while (ahead := found.latestOffset(place, LIMIT)) != place:
        batches.append(paths(found, place, ahead))
        place = ahead
    return batches


def test_each_commit_is_a_batch_of_the_files_that_it_added(
    lake: Lake, repository: Repository
) -> None:
    for number in range(3):
        put(repository, f"in/{number}.parquet", number)
    put(repository, "elsewhere/x.parquet", 9)

    found = walk(stream(lake, repository))

    added = ["in/0.parquet", "in/1.parquet", "in/2.parquet"]
    assert found == [[], *([one] for one in added), []]


def test_batches_are_limited_by_commits_and_by_files(lake: Lake, repository: Repository) -> None:
    for number in range(4):
        put(repository, f"in/{number}.parquet", number)

    by_commits = walk(stream(lake, repository, maxCommitsPerBatch="3"))
    by_files = walk(stream(lake, repository, maxCommitsPerBatch="100", maxFilesPerBatch="2"))

    assert [len(batch) for batch in by_commits] == [2, 2]
    assert [len(batch) for batch in by_files] == [2, 2]
    everything = stream(lake, repository)
    start = everything.initialOffset()
    end = everything.latestOffset(start, ReadAllAvailable())
    assert len(paths(everything, start, end)) == 4


def test_a_stream_begins_where_it_is_told(lake: Lake, repository: Repository) -> None:
    put(repository, "in/0.parquet", 0)
    second = put(repository, "in/1.parquet", 1)

    assert walk(stream(lake, repository, startingCommit=second)) == [["in/1.parquet"]]
    assert walk(stream(lake, repository, startingCommit="latest")) == []


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ("ignore", [[], ["in/a.parquet"], ["in/b.parquet"], []]),
        ("rewrite", [[], ["in/a.parquet"], ["in/a.parquet", "in/b.parquet"], []]),
        ("skip", [[], ["in/a.parquet"], [], []]),
    ],
)
def test_changed_and_removed_files_go_by_the_policy(
    lake: Lake, repository: Repository, policy: str, wanted: list[list[str]]
) -> None:
    _rewritten(repository)

    assert walk(stream(lake, repository, onChange=policy)) == wanted


def test_a_changed_file_stops_a_stream_that_was_told_nothing(
    lake: Lake, repository: Repository
) -> None:
    _rewritten(repository)

    with pytest.raises(Conflict, match=r"changed 'in/a.parquet'; .* option onChange"):
        walk(stream(lake, repository))


def test_a_branch_that_was_reset_stops_the_stream(lake: Lake, repository: Repository) -> None:
    first = put(repository, "in/0.parquet", 0)
    put(repository, "in/1.parquet", 1)
    found = stream(lake, repository)
    place = found.latestOffset(found.initialOffset(), ReadAllAvailable())
    repository.branch("main").reset_to(first)

    with pytest.raises(Conflict, match="is no longer in the history"):
        found.latestOffset(place, LIMIT)


def _rewritten(repository: Repository) -> None:
    put(repository, "in/a.parquet", 1)
    repository.branch("main").upload("in/b.parquet", b"x")
    put(repository, "in/a.parquet", 2)
    repository.branch("main").delete_objects(["in/b.parquet"])
    repository.branch("main").commit("removed")


def sink_of(lake: Lake, repository: Repository) -> StreamSink:
    uri = parse_uri(f"lochan://{repository.id}/main/out")
    return new_sink(KnownLake.of(lake), uri, {}, StructType(), overwrite=False)


def bring(lake: Lake, sink: StreamSink, batch: int) -> None:
    """Do what Spark does for a batch: tasks write, the driver commits."""
    rows = pa.record_batch({"n": [batch]})
    land(lake, sink, write_rows([rows], sink.layout, sink.target), "q", batch)


def landed(repository: Repository) -> Counter[str]:
    log = repository.ref("main").log(first_parent=True)
    return Counter(one.metadata[BATCH] for one in log if QUERY in one.metadata)


def rows_of(repository: Repository) -> list[int]:
    found = repository.ref("main").objects("out/")
    tables = [
        pa.parquet.read_table(io.BytesIO(repository.ref("main").object(one.path).read()))
        for one in found
    ]
    return sorted(n for table in tables for n in table.column("n").to_pylist())


def test_rel_V14_a_killed_batch_lands_once(lake: Lake, repository: Repository) -> None:
    sink = sink_of(lake, repository)
    for batch in range(100):
        dying, _ = mortal(lake, batch, die)
        try:
            bring(dying, sink, batch)
            was_killed = False
        except Killed:
            was_killed = True
        bring(lake, sink, batch)
        assert landed(repository)[str(batch)] == 1
        if not was_killed:
            break
    assert batch > 15
    assert rows_of(repository) == list(range(batch + 1))


@pytest.mark.parametrize("further", [0, 1])
def test_rel_V14_an_overtaken_batch_lands_once(
    lake: Lake, repository: Repository, further: int
) -> None:
    sink = sink_of(lake, repository)
    batch, moment = 0, 0
    happened: list[int] = []

    def overtake(first: int) -> Callable[[], None]:
        def happens() -> None:
            happened.append(first)
            for number in range(first, first + further + 1):
                bring(lake, sink, number)

        return happens

    while moment < 100:
        before = len(happened)
        slow, _ = mortal(lake, moment, overtake(batch))
        bring(slow, sink, batch)
        if len(happened) == before:
            break
        batch, moment = batch + further + 1, moment + 1
    assert moment > 15
    assert set(landed(repository).values()) == {1}
    assert rows_of(repository) == sorted(map(int, landed(repository)))
    assert len(list(repository.tags())) <= 2


def test_a_query_that_is_restarted_anywhere_brings_each_commit_once(
    spark: SparkSession, repository: Repository, tmp_path: Path
) -> None:
    put(repository, "in/0.parquet", 0)

    def run() -> None:
        frames = (
            spark.readStream.format("lochan")
            .schema("n long, _commit_id string")
            .load(f"lochan://{repository.id}/main/in")
        )
        writing = frames.writeStream.format("lochan").option("checkpointLocation", str(tmp_path))
        writing = writing.trigger(availableNow=True)
        writing.start(f"lochan://{repository.id}/copy/out").awaitTermination()

    repository.branch("copy").create("main")
    run()
    put(repository, "in/1.parquet", 1, 10)
    run()
    newest = max(int(file.name) for file in (tmp_path / "commits").glob("[0-9]*"))
    for file in (tmp_path / "commits").glob(f"*{newest}*"):
        file.unlink()  # killed when the batch was in, and Spark had not written that down
    put(repository, "in/2.parquet", 2)
    run()

    log = repository.ref("copy").log(first_parent=True)
    batches = [one.metadata[BATCH] for one in log if QUERY in one.metadata]
    found = spark.read.format("lochan").load(f"lochan://{repository.id}/copy/out").collect()
    assert len(batches) == len(set(batches)) == 3
    assert sorted(row.n for row in found) == [0, 1, 2, 10]
    assert len({row._commit_id for row in found}) == 3


def test_a_stream_that_meets_a_changed_file_says_which(
    spark: SparkSession, repository: Repository, tmp_path: Path
) -> None:
    put(repository, "in/a.parquet", 1)
    put(repository, "in/a.parquet", 2)
    frames = (
        spark.readStream.format("lochan").schema("n long").load(f"lochan://{repository.id}/main/in")
    )
    query = frames.writeStream.format("noop").option("checkpointLocation", str(tmp_path))

    with pytest.raises(StreamingQueryException, match=r"changed 'in/a\.parquet'"):
        query.trigger(availableNow=True).start().awaitTermination()
