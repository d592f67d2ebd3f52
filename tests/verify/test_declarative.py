# SPDX-License-Identifier: Apache-2.0
"""A project of Spark Declarative Pipelines as one job: all of its tables at once, or as they were.

By itself such a project empties its tables first, and leaves them empty when it fails.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lochan.bootstrap.driver_process import DriverProcess
from lochan.pipelines.model.records import JobState
from lochan.pipelines.specs.registry import create_pipeline, update_pipeline
from lochan.pipelines.specs.yaml_spec import load_specs
from support.pipelines_on_disk import DiskWorld, disk_world

[SPEC] = load_specs(
    """
pipeline: out
input: {repo: {name: events, repo: texts, branch: main, glob: "/*"}}
transform: {declarative: project}
output: {repo: out}
spark: {master: "local[2]", conf: {spark.driver.memory: 1g}}
""",
    file="project.yaml",
)
PROJECT = """
name: sums
storage: file:///nowhere
libraries: [{glob: {include: "definitions/**"}}]
"""
VIEWS = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as sql

spark = SparkSession.active()
EVENTS = spark.conf.get("spark.lochan.input.events")

@dp.materialized_view
def numbers():
    return spark.read.format("json").schema("n long").load(EVENTS)

@dp.materialized_view
def total():
    return spark.table("numbers").agg(sql.sum("n").alias("n"))
"""
QUERY = "CREATE MATERIALIZED VIEW big AS SELECT n FROM numbers WHERE n > 1;"
BROKEN = "CREATE MATERIALIZED VIEW big AS SELECT raise_error('no such luck') AS n FROM numbers;"


def files(query: str) -> dict[str, bytes]:
    given = {"spark-pipeline.yml": PROJECT, "definitions/a.py": VIEWS, "definitions/b.sql": query}
    return {f"project/{path}": text.encode() for path, text in given.items()}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[DiskWorld]:
    with disk_world(tmp_path) as opened:
        create_pipeline(opened.lake, SPEC, files(QUERY), namespaces=opened.namespace)
        yield opened


def tables(world: DiskWorld) -> dict[str, list[dict[str, Any]]]:
    """Read the tables of the output."""
    found: dict[str, list[dict[str, Any]]] = {}
    for key, body in world.shown("out").items():
        rows = pq.read_table(io.BytesIO(body)).to_pylist()
        found.setdefault(key.partition("/")[0], []).extend(rows)
    return found


@pytest.mark.campaign
def test_rel_P4_a_project_that_fails_leaves_the_tables_that_it_would_have_emptied(
    world: DiskWorld,
) -> None:
    engine = DriverProcess(lambda _: {}, world.folder / "log", cores=2)
    world.put({"a.json": '{"n": 1}\n{"n": 2}'})
    first = world.drive(engine)
    before = tables(world)
    assert (first.state, first.reason) == (JobState.SUCCESS, "")
    assert before == {"numbers": [{"n": 1}, {"n": 2}], "total": [{"n": 3}], "big": [{"n": 2}]}
    assert len(world.commits_of(first.id, "out")) == 1

    update_pipeline(world.lake, SPEC, files(BROKEN), namespaces=world.namespace)
    world.put({"b.json": '{"n": 3}'})
    second = world.drive(engine)

    assert second.state is JobState.FAILURE
    assert "the project failed" in second.reason
    assert tables(world) == before
