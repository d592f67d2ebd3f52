# SPDX-License-Identifier: Apache-2.0
"""Jobs of pipelines on a cluster whose tasks fail, dawdle and lose their executors.

python jobs_on_cluster.py <master> <scratch folder> <rounds>

Each file's text says what befalls the first attempt that reads it. Every attempt writes before.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import lochan.spark
from lochan.environment import RealEnvironment
from lochan.model.codec import decode_entry
from lochan.model.ids import EMPTY_TREE
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.jobs.run_job import run_job
from lochan.pipelines.model.commit_metadata import index_of
from lochan.spark.job_engine import SparkEngine
from support.pipelines_on_disk import DiskWorld, disk_world, stored

BEFALLS = ("fail", "slow", "kill", "none", "none", "none")
SETTINGS: dict[str, object] = {
    "spark.ui.enabled": False,
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": 2,
    "spark.speculation": True,
    "spark.speculation.interval": "200ms",
    "spark.speculation.multiplier": 1.5,
    "spark.speculation.quantile": 0.5,
    # Else Spark looks at how fast records are read, and a task of one record has none.
    "spark.speculation.efficiency.enabled": False,
}
STEPS = """
import os, signal, time

def is_first(mark):
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        open(mark + "-again", "w").close()
        return False
    return True

def make(text, out):
    befalls, folder = text.read_text().split()
    out.write(text.path, text.path)
    if befalls == "none" or not is_first(f"{folder}/{text.path}-{befalls}"):
        return
    if befalls == "fail":
        os._exit(1)
    if befalls == "slow":
        time.sleep(40)
    if befalls == "kill":
        daemon = open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()
        os.kill(int(daemon[1]), signal.SIGKILL)
        time.sleep(40)
"""
PIPELINE = """
pipeline: out
input: {repo: {name: text, repo: texts, branch: main, glob: "/*"}}
transform: {files: "steps:make"}
output: {repo: out}
shards: 6
"""


def played(spark: SparkSession, folder: Path, rounds: int) -> list[dict[str, object]]:
    """Run a job for each round; tell what became of it."""
    folder.mkdir()
    engine = SparkEngine(spark, RealEnvironment())
    with disk_world(folder) as world:
        world.create(PIPELINE, STEPS)
        return [_played(world, engine, number) for number in range(rounds)]


def _played(world: DiskWorld, engine: SparkEngine, number: int) -> dict[str, object]:
    turned = [*BEFALLS[number % 6 :], *BEFALLS[: number % 6]]
    names = [f"{number}-{place}" for place in range(6)]
    gone = [] if not number else [f"{number - 1}-{place}" for place in range(6)]
    files = {name: f"{each} {world.folder}" for name, each in zip(names, turned, strict=True)}
    world.put(files, gone=gone)
    [job] = world.due()
    done = run_job(world.lake, job, engine)
    storage = world.lake.storage(world.namespace("out"))
    rows = DatumIndex(storage.snapshots, index_of(world.head("out")) or EMPTY_TREE).rows()
    linked = {decode_entry(file.entry).address for row in rows for file in row.outputs}
    written = set(stored(world, "out", "data/"))
    return {
        "state": done.state.value,
        "reason": done.reason,
        "processed": done.counts.processed,
        "files": {key: body.decode() for key, body in world.shown("out").items()}
        == {name: name for name in names},
        "commits": len(world.commits_of(job, "out")),
        "linked is shown": linked == {one.address for one in world.entries("out").values()},
        "others wrote": bool(written - linked),
        "tried again": len(list(world.folder.glob(f"{number}-*-again"))),
    }


def main(master: str, folder: str, rounds: str) -> dict[str, object]:
    spark = lochan.spark.session(None, SETTINGS, master=master)
    try:
        return {"jobs": played(spark, Path(folder) / "jobs", int(rounds))}
    finally:
        spark.stop()


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
