# SPDX-License-Identifier: Apache-2.0
"""A result is sent to a real PostgreSQL by JDBC, and what the database refuses is said."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import psycopg
import pytest

from lochan.bootstrap.lake import open_lake
from lochan.bootstrap.run_here import run_set
from lochan.environment import RealEnvironment
from lochan.pipelines.model.records import Job, JobState
from lochan.pipelines.schedule.run_by_hand import run_by_hand
from servers.missing import skip_without
from support.pipelines_on_disk import DiskWorld, disk_world

JAR = Path("/usr/share/java/postgresql.jar")
WORD = "hunter2-right"


@pytest.fixture(scope="module")
def database(postgres_url: str) -> str:
    """Give the address of a database that lets a user in by his password alone."""
    if not JAR.exists():
        skip_without("PostgreSQL's JDBC driver", "install libpostgresql-jdbc-java")
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE sender LOGIN PASSWORD '{WORD}'")
        admin.execute("CREATE SCHEMA sent AUTHORIZATION sender")
        [[file]] = admin.execute("SHOW hba_file").fetchall()
        rules = Path(file).read_text()
        Path(file).write_text(f"host all sender 127.0.0.1/32 scram-sha-256\n{rules}")
        admin.execute("SELECT pg_reload_conf()")
    return postgres_url


@pytest.fixture
def world(tmp_path: Path) -> Iterator[DiskWorld]:
    with disk_world(tmp_path) as opened:
        yield opened


def create(world: DiskWorld, database: str, word: str) -> None:
    where = database.partition("@")[2]
    world.create(f"""
pipeline: out
input: {{repo: {{name: events, repo: texts, branch: main, glob: "/*"}}}}
transform: {{sql: "select n from events"}}
output: {{repo: out}}
egress:
  - jdbc:
      url: "jdbc:postgresql://{where}"
      table: sent.{world.folder.name.replace("-", "_")}
      options: {{user: sender, password: {word}}}
spark: {{master: "local[2]", conf: {{spark.jars: {JAR}, spark.driver.memory: 512m}}}}
""")


def run(world: DiskWorld) -> Job:
    """Run the pipeline in a process of its own: a session that is there has no such driver."""
    with ProcessPoolExecutor(1, get_context("spawn")) as own:
        return own.submit(run_in, world.folder).result()


def run_in(folder: Path) -> Job:
    with open_lake(f"sqlite://{folder}/kv.db", RealEnvironment()) as lake:
        return run_set(lake, run_by_hand(lake, ["out"]).id)[0]


def rows(world: DiskWorld, database: str) -> list[int]:
    with psycopg.connect(database) as reader:
        table = f"sent.{world.folder.name.replace('-', '_')}"
        found = reader.execute(f"SELECT n FROM {table} ORDER BY n").fetchall()
    return [n for (n,) in found]


def test_a_result_becomes_a_table_and_a_second_one_takes_its_place(
    world: DiskWorld, database: str
) -> None:
    create(world, database, WORD)
    world.put({"a.json": '{"n": 1}\n{"n": 2}'})
    first = run(world)
    assert (first.state, first.egress) == (JobState.SUCCESS, "done")
    assert rows(world, database) == [1, 2]

    world.put({"b.json": '{"n": 3}'})
    second = run(world)

    assert (second.egress, rows(world, database)) == ("done", [1, 2, 3])


def test_a_wrong_password_is_said_in_a_line_that_does_not_tell_it(
    world: DiskWorld, database: str
) -> None:
    create(world, database, "hunter2-wrong")
    world.put({"a.json": '{"n": 1}'})

    done = run(world)

    assert done.state is JobState.SUCCESS  # the commit stands
    assert len(world.commits_of(done.id, "out")) == 1
    assert "try 3 of 3 failed: table 'sent." in done.egress
    assert 'password authentication failed for user "sender"' in done.egress
    assert "hunter2" not in done.egress
    assert "\n" not in done.egress
