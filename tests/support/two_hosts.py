# SPDX-License-Identifier: Apache-2.0
"""A Spark master with two workers on two loopback addresses.

Spark starts a second attempt of a slow task on another host alone, so each worker has an address of
its own.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyspark
import pytest

from lochan.config.surroundings import variables
from lochan.spark.cache import cache_folder
from lochan.spark.java import find_java
from support.ports import free_port

SUPPORT = Path(__file__).parent
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


def surroundings(folder: Path) -> dict[str, str]:
    """Give what master, workers and drivers are told; workers write below a folder."""
    told = {
        "JAVA_HOME": str(find_java(variables(), cache_folder())),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_WORKER_DIR": str(folder),
        "SPARK_LOCAL_IP": "127.0.0.1",
        # The interpreter without this environment's packages: what runs there was shipped.
        "PYSPARK_PYTHON": str(Path(sys.executable).resolve()),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return {**os.environ, **told}


@contextmanager
def two_hosts(around: Mapping[str, str]) -> Iterator[str]:
    """Run a master and two workers of one core; gives the master's address."""
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    words = [
        [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port)],
        [f"{deploy}.worker.Worker", "--host", "127.0.0.2", "-c", "1", "-m", "700m", url],
        [f"{deploy}.worker.Worker", "--host", "127.0.0.3", "-c", "1", "-m", "700m", url],
    ]
    off = "-Dspark.master.rest.enabled=false -Dspark.master.ui.port=0 -Dspark.worker.ui.port=0"
    with ExitStack() as ends:
        for one in words:
            process = subprocess.Popen(
                [str(SPARK_CLASS), *one],
                env={**around, "SPARK_DAEMON_JAVA_OPTS": off},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            ends.callback(process.wait)
            ends.callback(process.terminate)
            if one is words[0]:
                _wait_for(port)
        yield url


def told_by(program: str, around: Mapping[str, str], *words: str) -> dict[str, Any]:
    """Run a driver of this folder to its end; gives what it found, the last line that it prints."""
    command = [sys.executable, str(SUPPORT / program), *words]
    env = {**around, "PYTHONPATH": str(SUPPORT.parent)}
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _wait_for(port: int) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the master does not listen")
