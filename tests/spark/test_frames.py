# SPDX-License-Identifier: Apache-2.0
"""Frames and queries as jobs: what is read, what is written, and what stays as it was."""

import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lochan.environment import RealEnvironment
from lochan.model.ids import BranchName
from lochan.operations.branches import create_branch
from lochan.pipelines.jobs.run_job import Beside, run_job
from lochan.pipelines.model.records import Job, JobState
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from lochan.spark.frames import FrameRun
from lochan.spark.job_engine import SparkEngine
from lochan.spark.output_tables import check_output
from support.pipelines_on_disk import DiskWorld, disk_world, stored, update_code
from support.refusing_engine import Refusing

DAYS = {f"events/dt=2024-01-0{day}/x.json": f'{{"n": {day}}}\n{{"n": 1}}' for day in (1, 2, 3)}
ODD = """
from pyspark.sql.functions import udf

def refuse(n):
    raise ValueError("odd number")

def f(events):
    return events.select(udf(refuse, "long")("n").alias("n"))
"""
# PySpark says so of every function that it sends to workers.
PANDAS = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
BY_DAY = "select dt, sum(n) as n from events group by dt"


class Frames:
    """A lake, the session, and the one pipeline `out` of a test."""

    def __init__(self, world: DiskWorld, spark: SparkSession) -> None:
        self.world = world
        self._spark = spark
        self.engine = SparkEngine(spark, RealEnvironment(), FrameRun(RealEnvironment()))
        self.beside = Beside(check=lambda task: check_output(spark, task, RealEnvironment()))

    def create(self, transform: str, *, code: str = "", more: str = "", glob: str = "/**") -> None:
        self.world.create(
            f"""
pipeline: out
input: {{repo: {{name: events, repo: texts, branch: main, glob: "{glob}" {more}}}}}
transform: {transform}
output: {{repo: out}}
""",
            code,
        )

    def create_checked(self, check: str) -> None:
        self.world.create(f"""
pipeline: out
input: {{repo: {{name: events, repo: texts, branch: main, glob: "/*"}}}}
transform: {{sql: "select n from events", format: json}}
output: {{repo: out}}
checks: [{{sql: "{check}", name: sums}}]
""")

    def run(self) -> Job:
        return self.world.drive(self.engine, self.beside)

    def rows(self, under: str = "") -> list[dict[str, Any]]:
        """Read the output's tables, with what its folders say."""
        found: list[dict[str, Any]] = []
        for key, body in self.world.shown("out").items():
            if key.startswith(under):
                told = dict(part.split("=") for part in key.split("/")[:-1] if "=" in part)
                found += [{**told, **row} for row in pq.read_table(io.BytesIO(body)).to_pylist()]
        return sorted(found, key=str)

    def addresses(self, under: str = "") -> dict[str, str]:
        entries = self.world.entries("out").items()
        return {key: entry.address for key, entry in entries if key.startswith(under)}


@pytest.fixture
def frames(tmp_path: Path, spark: SparkSession) -> Iterator[Frames]:
    with disk_world(tmp_path) as world:
        yield Frames(world, spark)


def test_a_query_gets_parameters_and_its_files_are_linked_where_spark_wrote_them(
    frames: Frames,
) -> None:
    frames.create(
        '{sql: "select kind, n * :times as n from events", params: {times: 10},'
        " partition_by: [kind]}",
        glob="/",
    )
    frames.world.put({"a.csv": "kind,n\nx,1\ny,2\n", "b.csv": "kind,n\nx,3\n"})

    done = frames.run()

    assert (done.state, done.counts.processed) == (JobState.SUCCESS, 1)
    assert frames.rows() == [
        {"kind": "x", "n": 10},
        {"kind": "x", "n": 30},
        {"kind": "y", "n": 20},
    ]
    assert all(each.startswith("data/") for each in frames.addresses().values())
    assert set(frames.addresses().values()) == set(stored(frames.world, "out", "data/"))


@PANDAS
def test_a_function_gives_several_frames_and_runs_its_own_module_in_workers(
    frames: Frames,
) -> None:
    code = """
from pyspark.sql.functions import udf

def doubled(n):
    return 2 * n

def split(events, ctx, least):
    twice = udf(doubled, "long")
    big = events.where(f"n >= {least}")
    assert ctx.params == {"least": 2} and ctx.spark is not None
    return {"big": big.select(twice("n").alias("n")), "all": events.select("n")}
"""
    frames.create('{frame: "steps:split", params: {least: 2}}', code=code, glob="/*")
    frames.world.put({"a.json": '{"n": 1}\n{"n": 2}\n{"n": 3}'})

    assert frames.run().reason == ""

    assert frames.rows("big/") == [{"n": 4}, {"n": 6}]
    assert frames.rows("all/") == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_by_partition_the_changed_one_alone_is_read_and_written(frames: Frames) -> None:
    world = frames.world
    frames.create(
        f'{{sql: "{BY_DAY}", incremental: partition, partition_by: [dt]}}', glob="/events/dt=*"
    )
    world.put(DAYS)
    assert frames.run().counts.processed == 3
    before = frames.addresses()
    # Whoever reads another partition now fails.
    objects = world.lake.storage(world.namespace("texts")).objects
    for key, entry in world.entries("texts").items():
        if "01-02" not in key:
            objects.delete(entry.address)
    world.put({"events/dt=2024-01-02/y.json": '{"n": 100}'})

    done = frames.run()

    assert (done.reason, done.counts.processed, done.counts.skipped) == ("", 1, 2)
    after = frames.addresses()
    kept = {key: one for key, one in before.items() if "01-02" not in key}
    assert {key: one for key, one in after.items() if "01-02" not in key} == kept
    assert not set(frames.addresses("dt=2024-01-02").values()) & set(before.values())
    assert frames.rows("dt=2024-01-02") == [{"dt": "2024-01-02", "n": 103}]


def test_a_partition_that_is_gone_takes_its_output_away(frames: Frames) -> None:
    frames.create(
        f'{{sql: "{BY_DAY}", incremental: partition, partition_by: [dt]}}', glob="/events/dt=*"
    )
    frames.world.put(DAYS)
    frames.run()
    frames.world.put({}, gone=["events/dt=2024-01-03/x.json"])

    done = frames.run()

    assert (done.counts.processed, done.counts.gone) == (0, 1)
    assert {row["dt"] for row in frames.rows()} == {"2024-01-01", "2024-01-02"}


@pytest.mark.parametrize("days", [1, 3])
def test_a_file_outside_of_the_partitions_of_the_input_is_refused(
    frames: Frames, days: int
) -> None:
    frames.create('{sql: "select n from events", incremental: partition}', glob="/events/dt=*")
    frames.world.put(dict(list(DAYS.items())[:days]))

    done = frames.run()

    assert done.state is JobState.FAILURE
    assert "lies in no partition of the input" in done.reason


def test_appended_files_alone_are_read_and_older_output_stays_as_it_is(
    frames: Frames,
) -> None:
    frames.create('{sql: "select n from events", incremental: append}', glob="/*")
    frames.world.put({"1.json": '{"n": 1}', "2.json": '{"n": 2}'})
    frames.run()
    before = frames.addresses()
    frames.world.put({"3.json": '{"n": 3}', "4.json": '{"n": 4}'})

    done = frames.run()

    assert (done.counts.processed, done.counts.skipped) == (2, 2)
    assert frames.rows() == [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 4}]
    assert before.items() < frames.addresses().items()


@pytest.mark.parametrize(("files", "gone"), [({"1.json": '{"n": 7}'}, []), ({}, ["1.json"])])
def test_what_may_only_grow_and_did_more_is_refused(
    frames: Frames, files: dict[str, str], gone: list[str]
) -> None:
    frames.create('{sql: "select n from events", incremental: append}', glob="/*")
    frames.world.put({"1.json": '{"n": 1}', "2.json": '{"n": 2}'})
    frames.run()
    before = frames.addresses()
    frames.world.put(files, gone=gone)

    done = frames.run()

    assert done.state is JobState.FAILURE
    assert "may only grow" in done.reason
    assert frames.addresses() == before


def test_what_files_made_together_is_not_remembered_for_one_of_them(frames: Frames) -> None:
    world = frames.world
    frames.create('{sql: "select n from events", incremental: append}', glob="/*")
    for name in ("texts", "out"):
        create_branch(world.lake, world.repository(name), BranchName("exp"), world.head(name).id)
    world.put({"1.json": '{"n": 1}', "2.json": '{"n": 2}'})
    frames.run()
    world.put({"2.json": '{"n": 2}'}, branch="exp")

    decided = run_by_hand(world.lake, ["out"], branch="exp")
    done = run_job(world.lake, decided.jobs[0].job, frames.engine)

    assert (done.reason, done.counts.processed, done.counts.remembered) == ("", 1, 0)
    [body] = world.shown("out", "exp").values()
    assert pq.read_table(io.BytesIO(body)).to_pylist() == [{"n": 2}]


@pytest.mark.parametrize(
    ("name", "body", "more", "query"),
    [
        ("x.csv", b"n\n1\n2\n", "", "sum(n)"),
        ("x.csv.gz", gzip.compress(b"n\n1\n2\n", mtime=0), "", "sum(n)"),
        ("x.jsonl", b'{"n": 1}\n{"n": 2}', "", "sum(n)"),
        ("x.txt", b"1\n2\n", "", "sum(cast(value as int))"),
        ("x.data", b"n;1\nn;2\n", ', format: csv, options: {sep: ";"}', "sum(cast(_c1 as int))"),
    ],
)
def test_files_are_read_as_they_are_named_or_as_the_spec_says(
    frames: Frames, name: str, body: bytes, more: str, query: str
) -> None:
    frames.create(f'{{sql: "select {query} as n from events"}}', glob="/*", more=more)
    frames.world.put({name: body})

    assert frames.run().reason == ""

    assert frames.rows() == [{"n": 3}]


def test_files_of_several_formats_need_a_word_in_the_spec(frames: Frames) -> None:
    frames.create('{sql: "select * from events"}', glob="/*")
    frames.world.put({"a.csv": "n\n1\n", "b.json": '{"n": 1}'})

    done = frames.run()

    assert done.state is JobState.FAILURE
    assert "csv, json; say its format" in done.reason


@PANDAS
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(events):\n    raise KeyError('price')", "'steps:f' failed: KeyError: 'price'"),
        ("def f(events):\n    return 7", "gave int; return a DataFrame"),
        ("def f(events, other):\n    return events", "asks for other; there are ctx, events"),
        ("def f(events):\n    return events.select('price')", "price"),
        (ODD, "ValueError: odd number"),
    ],
)
def test_rel_P4_a_frame_that_fails_leaves_the_old_data_and_says_why(
    frames: Frames, code: str, said: str
) -> None:
    frames.create('{frame: "steps:f"}', code="def f(events):\n    return events", glob="/*")
    frames.world.put({"a.json": '{"n": 1}'})
    frames.run()
    before = frames.addresses()
    update_code(frames.world, code)

    done = run_job(frames.world.lake, frames.world.by_hand("out"), frames.engine)

    assert done.state is JobState.FAILURE
    assert said in done.reason
    assert frames.addresses() == before


def test_a_query_that_cannot_be_run_says_so_and_views_do_not_outlive_their_job(
    frames: Frames, spark: SparkSession
) -> None:
    frames.create('{sql: "select price from events"}', glob="/*")
    frames.world.put({"a.json": '{"n": 1}'})

    done = frames.run()

    assert done.state is JobState.FAILURE
    assert "the query failed: AnalysisException" in done.reason
    assert "events" not in {table.name for table in spark.catalog.listTables()}


def test_rel_P4_a_check_is_a_gate_and_what_fails_it_is_never_seen(frames: Frames) -> None:
    frames.create_checked("select sum(n) < 10 from out")
    frames.world.put({"a.json": '{"n": 1}'})
    assert frames.run().state is JobState.SUCCESS
    before = frames.addresses()
    frames.world.put({"b.json": '{"n": 100}'})

    done = frames.run()

    assert done.state is JobState.FAILURE
    assert "check sums failed" in done.reason
    assert frames.addresses() == before


def test_a_frame_whose_input_did_not_change_is_not_run(frames: Frames) -> None:
    frames.create('{sql: "select n from events"}', glob="/*")
    frames.world.put({"a.json": '{"n": 1}'})
    frames.run()
    before = frames.world.head("out").id

    again = run_job(frames.world.lake, frames.world.by_hand("out"), Refusing())

    assert (again.state, frames.world.head("out").id) == (JobState.SKIPPED, before)
