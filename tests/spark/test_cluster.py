# SPDX-License-Identifier: Apache-2.0
"""A master with two workers on two addresses: what fails there is seen whole or not at all.

Spark starts a second attempt of a slow task on another host alone, so each worker has a loopback
address of its own.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyspark
import pytest

from lochan.config.surroundings import variables
from lochan.spark.cache import cache_folder
from lochan.spark.java import find_java
from support.ports import free_port

DRIVER = Path(__file__).parent.parent / "support" / "spark_on_cluster.py"
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    told = {
        "JAVA_HOME": str(find_java(variables(), cache_folder())),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_WORKER_DIR": str(tmp_path_factory.mktemp("workers")),
        "SPARK_LOCAL_IP": "127.0.0.1",
        # The interpreter without this environment's packages: what runs there was shipped.
        "PYSPARK_PYTHON": str(Path(sys.executable).resolve()),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return {**os.environ, **told}


@pytest.fixture(scope="module")
def master(surroundings: dict[str, str]) -> Iterator[str]:
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    words = [
        [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port)],
        [f"{deploy}.worker.Worker", "--host", "127.0.0.2", "-c", "1", "-m", "700m", url],
        [f"{deploy}.worker.Worker", "--host", "127.0.0.3", "-c", "1", "-m", "700m", url],
    ]
    off = "-Dspark.master.rest.enabled=false -Dspark.master.ui.port=0 -Dspark.worker.ui.port=0"
    around = {**surroundings, "SPARK_DAEMON_JAVA_OPTS": off}
    with ExitStack() as ends:
        for one in words:
            process = subprocess.Popen(
                [str(SPARK_CLASS), *one],
                env=around,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            ends.callback(process.wait)
            ends.callback(process.terminate)
            if one is words[0]:
                wait_for(port)
        yield url


def wait_for(port: int) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the master does not listen")


@pytest.fixture(scope="module")
def told(
    master: str, surroundings: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("cluster")
    command = [sys.executable, str(DRIVER), master, str(folder / "lake"), str(folder)]
    ran = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("scene", ["a task fails", "an executor is killed", "a task is slow"])
def test_rel_V14_every_row_is_there_once(told: dict[str, Any], scene: str) -> None:
    expected = {"error": "", "rows": 4000, "distinct": 4000, "files": 4, "moved": True}

    assert told["scenes"][scene] == expected


def test_rel_V14_a_second_attempt_ran(told: dict[str, Any]) -> None:
    assert told["speculated"]


def test_rel_V14_a_write_whose_attempts_all_fail_leaves_nothing(told: dict[str, Any]) -> None:
    found = told["scenes"]["all attempts fail"]

    assert (found["rows"], found["moved"]) == (0, False)
    assert found["error"]
