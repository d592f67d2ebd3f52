# SPDX-License-Identifier: Apache-2.0
"""The driver of a job, in a process of its own: `python -m lochan.spark.drive <folder>`.

It is started by `bootstrap.driver_process`, which has its other half and describes the lines. Here
are Spark and the user's code, and neither a store of the lake nor a secret of its server: what is
to be read is known from the plan, file by file, and what is written lies in the output's namespace.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from pyspark.sql import SparkSession

from lochan.bootstrap.driver_process import (
    CHECK,
    OUTPUT,
    SHARDS,
    TABLE,
    TASK,
    Failure,
    Line,
    TableTask,
)
from lochan.config.surroundings import variables
from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, JobFailed
from lochan.pipelines.checks import CheckTask
from lochan.pipelines.spec import SparkRules
from lochan.pipelines.work import JobTask, Progress, Shard
from lochan.spark.frames import FrameRun
from lochan.spark.job_engine import SparkEngine
from lochan.spark.output_tables import check_output, send_table
from lochan.spark.session import session

Write = Callable[[Line], None]


def main(folder: Path) -> None:
    """Do what a folder asks for, and write the lines."""
    lines = int(variables()[OUTPUT])

    def write(line: Line) -> None:
        os.write(lines, msgspec.json.encode(line) + b"\n")

    try:
        _do(folder, write)
    except (JobFailed, InvalidInput) as error:
        write(Line(failed=Failure(error.message, error.code)))
    except BrokenPipeError:
        # Whoever waited for the lines is gone, and the job is somebody else's now.
        os.killpg(0, signal.SIGKILL)
    else:
        write(Line(done=True))


def _do(folder: Path, write: Write) -> None:
    if (folder / CHECK).exists():
        check = msgspec.msgpack.decode((folder / CHECK).read_bytes(), type=CheckTask)
        check_output(_session(check.pipeline), check, RealEnvironment())
    elif (folder / TABLE).exists():
        table = msgspec.msgpack.decode((folder / TABLE).read_bytes(), type=TableTask)
        send_table(_session(table.pipeline), table, RealEnvironment())
    else:
        task = msgspec.msgpack.decode((folder / TASK).read_bytes(), type=JobTask)
        shards = msgspec.msgpack.decode((folder / SHARDS).read_bytes(), type=list[Shard])
        drive(task, shards, write)


def drive(task: JobTask, shards: list[Shard], write: Write) -> None:
    """Run shards on Spark. Raises JobFailed, InvalidInput, Unavailable."""

    def tell(progress: Progress) -> None:
        write(Line(progress=progress))

    spark = _session(task.pipeline, task.spark)
    engine = SparkEngine(spark, RealEnvironment(), FrameRun(RealEnvironment()))
    try:
        for manifest in engine.run(task, shards, tell):
            write(Line(manifest=manifest))
    finally:
        spark.stop()


def _session(pipeline: str, rules: SparkRules | None = None) -> SparkSession:
    said = rules or SparkRules()
    conf: dict[str, object] = {"spark.ui.enabled": False, **said.conf}
    return session(None, conf, master=said.master or None, name=f"lochan {pipeline}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
