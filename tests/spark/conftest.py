# SPDX-License-Identifier: Apache-2.0
"""One Spark session for all tests of the process, on a lake in a folder.

`lake` is open for the whole run, and each test that asks for `repository` has one of its own.

Two processes share the tests by files (`-n 2 --dist loadfile --no-loadscope-reorder`), each with a
session of its own; those that take longest begin, so that both end at about the same time.
"""

import os
import re
from collections.abc import Iterator
from hashlib import sha256

import pytest
from pyspark.sql import SparkSession

import lochan
import lochan.spark
from lochan.client import Lake, Repository

LONGEST = (
    "cluster",
    "behind_server",
    "job_engine",
    "driver_process",
    "example",
    "on_s3",
    "connect",
)
# A JVM of a test lives for a minute at most: what its better compiler would win, it never sees.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the files begin that take longest."""
    names = [f"test_{name}" for name in LONGEST]
    items.sort(key=lambda item: names.index(item.path.stem) if item.path.stem in names else 99)


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    with lochan.open(tmp_path_factory.mktemp("spark") / "lake") as opened:
        yield opened


@pytest.fixture(scope="session")
def spark(lake: Lake, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A classic session, local[2]; starting it takes seconds, so there is this one."""
    session = lochan.spark.session(
        lake,
        {
            "spark.ui.enabled": False,
            "spark.driver.memory": "1g",
            "spark.sql.shuffle.partitions": 2,
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        },
        master="local[2]",
    )
    yield session
    session.stop()


@pytest.fixture
def repository(lake: Lake, request: pytest.FixtureRequest) -> Repository:
    """An empty repository, named after the test."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:50].strip("-")
    return lake.repository(
        f"{words}-{sha256(request.node.nodeid.encode()).hexdigest()[:8]}"
    ).create()
