# SPDX-License-Identifier: Apache-2.0
"""Storage on S3: direct where Spark has hadoop-aws; else another door is chosen, and said once.

hadoop-aws is not on PyPI. To test with it, name a folder that has its jar and those that it needs:

    LOCHAN_TEST_HADOOP_AWS=<folder> pytest -m campaign tests/spark/test_on_s3.py
"""

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


def found_on(seaweedfs: S3Server, folder: Path, jars: str = "") -> dict[str, Any]:
    """Run the driver, on an embedded lake and on a server's."""
    namespace = f"s3://{seaweedfs.bucket}/{folder.name}"
    cloud = {
        "AWS_ENDPOINT_URL": seaweedfs.endpoint,
        "AWS_ACCESS_KEY_ID": seaweedfs.credentials["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": seaweedfs.credentials["secret_access_key"],
    }
    allowed = {"LOCHAN_BLOCKSTORE_ALLOWED_NAMESPACE_PREFIXES": namespace, **cloud}
    with running_server(folder / "served", workers=1, settings=allowed) as server:
        words = [namespace, str(folder / "lake"), server.url, KEY_ID, KEY_SECRET, jars]
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


@pytest.fixture(scope="module")
def told(seaweedfs: S3Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return found_on(seaweedfs, tmp_path_factory.mktemp("s3"))


@pytest.mark.parametrize(
    ("where", "words"),
    [("here", "Python reads and writes the bytes"), ("there", "go through the server")],
)
def test_a_lake_on_s3_is_read_and_written_without_a_connector(
    told: dict[str, Any], where: str, words: str
) -> None:
    found = told[where]

    assert (found["rows"], found["one"], found["commits"]) == (60, 20, 3)
    assert len(found["said"]) == 1
    assert "no Hadoop connector for s3://" in found["said"][0]
    assert words in found["said"][0]


@pytest.mark.campaign
def test_with_hadoop_aws_a_lake_on_s3_is_read_and_written_directly(
    seaweedfs: S3Server, tmp_path: Path
) -> None:
    jars = variables().get("LOCHAN_TEST_HADOOP_AWS", "")
    if not jars:
        pytest.skip("LOCHAN_TEST_HADOOP_AWS names no folder with hadoop-aws and what it needs")
    for found in found_on(seaweedfs, tmp_path, jars).values():
        assert (found["rows"], found["one"], found["commits"]) == (60, 20, 3)
        assert found["said"] == []
        assert found["schemes"] == ["s3a"]
