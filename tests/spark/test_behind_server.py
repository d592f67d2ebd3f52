# SPDX-License-Identifier: Apache-2.0
"""A lake behind a server: directly where its disk is ours, else through the server."""

from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

import lochan
import lochan.spark
from lochan.client import Branch, Lake
from lochan.errors import Refused
from lochan.spark import doors
from support.server import KEY_ID, KEY_SECRET, running_server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("served") / "lake"
    with (
        running_server(folder, workers=1) as server,
        lochan.connect(server.url, access_key_id=KEY_ID, secret_access_key=KEY_SECRET) as lake,
    ):
        yield lake


@pytest.fixture
def main(served: Lake, request: pytest.FixtureRequest) -> Branch:
    name = request.node.name.replace("_", "-").lower()[-60:].strip("-")
    return served.repository(name).create().branch("main")


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    return spark.range(100).selectExpr("id", "id % 4 AS part")


@pytest.fixture
def afar(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the storage be out of reach."""
    found = (doors.Door.SERVER, "the disk is elsewhere")
    monkeypatch.setattr(doors, "_found", lambda *_: found)


def test_a_lake_s_own_disk_is_read_and_written_directly(
    spark: SparkSession, served: Lake, main: Branch, frame: DataFrame
) -> None:
    lochan.spark.write(frame, f"{main.uri}/t", partition_by=["part"], lake=served)
    found = lochan.spark.read(spark, f"{main.uri}/t", lake=served)

    assert found.where("part = 1").count() == 25
    assert all(one.startswith("file:/") for one in found.inputFiles())


@pytest.mark.usefixtures("afar")
def test_storage_out_of_reach_goes_by_the_server_and_says_so_once(
    spark: SparkSession, served: Lake, main: Branch, frame: DataFrame
) -> None:
    with pytest.warns(RuntimeWarning, match="bytes go through the server"):
        commit = lochan.spark.write(frame, f"{main.uri}/t", partition_by=["part"], lake=served)
    lochan.spark.write(
        frame.where("part = 1").limit(5),
        f"{main.uri}/t",
        "overwrite-partitions",
        partition_by=["part"],
        lake=served,
    )
    found = lochan.spark.read(spark, f"{main.uri}/t", lake=served)
    before = lochan.spark.read(spark, f"lochan://{main.repository_id}/{commit}/t", lake=served)

    assert (found.count(), before.count()) == (80, 100)
    assert all(one.startswith("lochan://127.0.0.1:") for one in found.inputFiles())
    assert len(list(main.log())) == 3


def test_a_cloud_without_a_connector_is_read_and_written_by_python(
    spark: SparkSession, lake: Lake, frame: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doors, "_found", lambda *_: (doors.Door.ARROW, "no connector"))
    branch = lake.repository("by-python").create().branch("main")
    with pytest.warns(RuntimeWarning, match="Python reads and writes the bytes"):
        commit = lochan.spark.write(frame, f"{branch.uri}/t", partition_by=["part"])
    found = lochan.spark.read(spark, f"{branch.uri}/t")

    assert found.where("part = 1").count() == 25
    assert (branch.head.id, len(list(branch.log()))) == (commit, 2)


@pytest.mark.usefixtures("afar")
def test_a_lake_in_this_process_out_of_reach_is_refused_in_one_line(
    spark: SparkSession, lake: Lake, frame: DataFrame
) -> None:
    branch = lake.repository("out-of-reach").create().branch("main")
    with pytest.raises(Refused, match="start one with `lochan serve`"):
        lochan.spark.write(frame, f"{branch.uri}/t")
