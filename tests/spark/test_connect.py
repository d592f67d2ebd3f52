# SPDX-License-Identifier: Apache-2.0
"""On Spark Connect there is no driver of ours: the same verbs go through the server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.server import KEY_ID, KEY_SECRET, running_server

DRIVER = Path(__file__).parent.parent / "support" / "spark_on_connect.py"


def test_connect_reads_and_writes_through_the_server_and_says_so_once(tmp_path: Path) -> None:
    pytest.importorskip("grpc_status", reason="pip install 'pyspark[connect]'")
    with running_server(tmp_path / "lake", workers=1) as server:
        command = [sys.executable, str(DRIVER), server.url, KEY_ID, KEY_SECRET]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = json.loads(ran.stdout.splitlines()[-1])

    assert (found["rows"], found["one"], found["commits"]) == (50, 10, 3)
    assert len(found["said"]) == 1
