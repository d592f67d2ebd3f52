# SPDX-License-Identifier: Apache-2.0
"""Storage on S3 without hadoop-aws: another door is chosen by itself, and said once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lochan.config.surroundings import variables
from servers.seaweedfs import S3Server
from support.server import KEY_ID, KEY_SECRET, running_server

DRIVER = Path(__file__).parent.parent / "support" / "spark_on_s3.py"


@pytest.fixture(scope="module")
def told(seaweedfs: S3Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("s3")
    namespace = f"s3://{seaweedfs.bucket}/spark"
    cloud = {
        "AWS_ENDPOINT_URL": seaweedfs.endpoint,
        "AWS_ACCESS_KEY_ID": seaweedfs.credentials["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": seaweedfs.credentials["secret_access_key"],
    }
    allowed = {"LOCHAN_BLOCKSTORE_ALLOWED_NAMESPACE_PREFIXES": namespace, **cloud}
    with running_server(folder / "served", workers=1, settings=allowed) as server:
        words = [namespace, str(folder / "lake"), server.url, KEY_ID, KEY_SECRET]
        ran = subprocess.run(
            [sys.executable, str(DRIVER), *words],
            env={**variables(), **cloud},
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 0, ran.stderr[:6000]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    ("way", "words"),
    [("by_python", "Python reads and writes the bytes"), ("by_server", "go through the server")],
)
def test_a_lake_on_s3_is_read_and_written_without_a_connector(
    told: dict[str, Any], way: str, words: str
) -> None:
    found = told[way]

    assert (found["rows"], found["one"], found["commits"]) == (60, 20, 3)
    assert len(found["said"]) == 1
    assert "no Hadoop connector for s3://" in found["said"][0]
    assert words in found["said"][0]
