# SPDX-License-Identifier: Apache-2.0
"""What is said of a project before Spark is asked to run it; `verify` runs one."""

from pathlib import Path

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput
from lochan.model.codec import encode_entry
from lochan.model.entry import Entry
from lochan.model.instant import Instant
from lochan.pipelines.model.datum import Datum, DatumFile, Member
from lochan.pipelines.model.spec import DatumRules, DeclarativeTransform, SparkRules
from lochan.pipelines.model.work import Code, JobTask, Shard
from lochan.spark.declarative import ProjectRun


def ask(folder: Path, address: str = "data/x", key: bytes = b"a.json", master: str = "") -> None:
    """Run a project on one file."""
    entry = Entry(address=address, last_modified=Instant(0), size=1, e_tag="x")
    member = Member(key, b"", encode_entry(entry))
    datum = Datum(b"id", b"hash", (DatumFile("events", "texts", key, (), (member,)),))
    task = JobTask(
        job="j1",
        epoch=1,
        pipeline="sums",
        transform=DeclarativeTransform(project="project"),
        rules=DatumRules(),
        code=Code(folder=str(folder)),
        output_namespace=f"local://{folder}/out",
        input_namespaces={"texts": f"local://{folder}/texts"},
        spark=SparkRules(master=master),
    )
    ProjectRun(RealEnvironment())(task, Shard(0, (datum,)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "spark-pipeline.yml").write_text("name: sums\nstorage: x\n")
    return tmp_path


def test_a_project_runs_where_its_driver_does(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="not on spark://host:7077; leave the master out"):
        ask(folder, master="spark://host:7077")


def test_a_folder_without_a_spec_is_no_project(folder: Path) -> None:
    (folder / "project" / "spark-pipeline.yml").unlink()

    with pytest.raises(InvalidInput, match=r"'project' has no spark-pipeline\.yml"):
        ask(folder)


def test_inputs_that_no_link_leads_to_are_refused(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="reads and writes folders of this machine alone"):
        ask(folder, address="s3://bucket/x")


def test_a_path_that_leads_out_of_its_folder_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="is no path of a file"):
        ask(folder, key=b"../../a.json")

    assert not list(folder.rglob("a.json"))
