# SPDX-License-Identifier: Apache-2.0
"""The driver of a job, in a process of its own: `python -m lochan.spark.drive <folder>`.

It is started by `bootstrap.driver_process`, which has its other half and describes the lines. Here
are Spark and the user's code, and neither a store of the lake nor a secret of its server: what is
to be read is known from the plan, file by file, and what is written lies in the output's namespace.

Whoever waits for the lines holds the other end of the pipe. Once that is closed nobody wants the
work any more, and the job is somebody else's: the process ends at once, with its JVM and workers.
"""

import os
import select
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Thread
from typing import Final, NoReturn

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
from lochan.pipelines.attempts.checks import CheckTask, require_passed, run_checks
from lochan.pipelines.attempts.places import ProcessPlaces
from lochan.pipelines.model.spec import DeclarativeTransform, SparkRules
from lochan.pipelines.model.work import JobTask, Progress, Shard
from lochan.spark.declarative import ProjectRun
from lochan.spark.frames import FrameRun
from lochan.spark.job_engine import SparkEngine
from lochan.spark.output_tables import check_output, send_table
from lochan.spark.session import session

Write = Callable[[Line], None]
_PLAIN: Final = {"cores": "spark.task.cpus", "memory": "spark.executor.memory"}


def main(folder: Path) -> None:
    """Do what a folder asks for, and write the lines."""
    lines = int(variables()[OUTPUT])
    Thread(target=watch, args=(lines, folder), name="lochan-runner", daemon=True).start()

    def write(line: Line) -> None:
        os.write(lines, msgspec.json.encode(line) + b"\n")

    try:
        _do(folder, write)
    except (JobFailed, InvalidInput) as error:
        write(Line(failed=Failure(error.message, error.code)))
    except BrokenPipeError:
        _end(folder)
    else:
        write(Line(done=True))


def watch(lines: int, folder: Path) -> None:
    """Wait until nobody reads the lines any more, and then end this process and its group."""
    poll = select.poll()
    poll.register(lines, 0)  # errors alone, of which a closed other end is one
    while not poll.poll():
        pass
    _end(folder)


def _end(folder: Path) -> NoReturn:
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)
    raise AssertionError  # nobody comes here


def _do(folder: Path, write: Write) -> None:
    if (folder / CHECK).exists():
        check = msgspec.msgpack.decode((folder / CHECK).read_bytes(), type=CheckTask)
        _check(check)
    elif (folder / TABLE).exists():
        table = msgspec.msgpack.decode((folder / TABLE).read_bytes(), type=TableTask)
        send_table(job_session(table.pipeline, table.spark), table, RealEnvironment())
    else:
        task = msgspec.msgpack.decode((folder / TASK).read_bytes(), type=JobTask)
        shards = msgspec.msgpack.decode((folder / SHARDS).read_bytes(), type=list[Shard])
        drive(task, shards, write)


def drive(task: JobTask, shards: list[Shard], write: Write) -> None:
    """Run shards on Spark. Raises JobFailed, InvalidInput, Unavailable."""

    def tell(progress: Progress) -> None:
        write(Line(progress=progress))

    if isinstance(task.transform, DeclarativeTransform):
        for shard in shards:
            write(Line(manifest=ProjectRun(RealEnvironment())(task, shard)))
        return
    spark = job_session(task.pipeline, task.spark)
    engine = SparkEngine(spark, RealEnvironment(), FrameRun(RealEnvironment()))
    try:
        for manifest in engine.run(task, shards, tell):
            write(Line(manifest=manifest))
    finally:
        spark.stop()


def _check(task: CheckTask) -> None:
    """Check an output; Spark starts for queries alone. Raises JobFailed, InvalidInput."""
    environment = RealEnvironment()
    if any(check.sql for check in task.checks):
        check_output(job_session(task.pipeline), task, environment)
    else:
        require_passed(run_checks(task, environment, ProcessPlaces(environment)))


def job_session(pipeline: str, rules: SparkRules | None = None) -> SparkSession:
    """Start a session as a spec says, on this machine where it says nothing."""
    said = rules or SparkRules()
    conf: dict[str, object] = {"spark.ui.enabled": False, **asked_for(said.resources), **said.conf}
    return session(None, conf, master=said.master or None, name=f"lochan {pipeline}")


def asked_for(resources: Mapping[str, str]) -> dict[str, str]:
    """Say in Spark's settings what a task needs: cores, memory, or a kind of device (gpu: "1")."""
    found: dict[str, str] = {}
    for name, amount in resources.items():
        if name in _PLAIN:
            found[_PLAIN[name]] = amount
        else:
            found[f"spark.task.resource.{name}.amount"] = amount
            found[f"spark.executor.resource.{name}.amount"] = amount
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
