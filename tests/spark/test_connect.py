# SPDX-License-Identifier: Apache-2.0
"""On Spark Connect there is no driver of ours: the same verbs go through the server."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

from lochan.config.surroundings import variables
from lochan.spark.cache import cache_folder
from lochan.spark.java import find_java
from support.ports import free_port
from support.server import KEY_ID, KEY_SECRET, running_server

DRIVER = Path(__file__).parent.parent / "support" / "spark_on_connect.py"
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
SERVICE = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Run the server that Spark ships, which is told of no lake."""
    port = free_port()
    around = {
        **variables(),
        "JAVA_HOME": str(find_java(variables(), cache_folder())),
        "PYSPARK_PYTHON": sys.executable,  # which has our package, for the data source
    }
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
    }
    words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    with (folder / "connect.log").open("wb") as log:
        process = subprocess.Popen(
            [SUBMIT, "--class", SERVICE, "--master", "local[2]", *words],
            env=around,
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    try:
        wait_for(port, process)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("the server of Spark Connect did not begin")


def test_connect_reads_and_writes_through_the_server_and_says_so_once(tmp_path: Path) -> None:
    pytest.importorskip("grpc_status", reason="pip install 'lochan[connect]'")
    with (
        running_server(tmp_path / "lake", workers=1) as server,
        connect_server(tmp_path) as remote,
    ):
        command = [sys.executable, str(DRIVER), remote, server.url, KEY_ID, KEY_SECRET]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[:6000]
    found = json.loads(ran.stdout.splitlines()[-1])

    assert (found["rows"], found["one"], found["commits"]) == (50, 10, 4)
    assert found["by_source"] == 50
    assert found["tables"] == ["in-source", "one", "t"]
    assert len(found["said"]) == 1
