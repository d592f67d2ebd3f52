# SPDX-License-Identifier: Apache-2.0
"""Run the jobs of a lake in this process: for a lake in a folder, whose owner runs his own code.

Functions and commands run in this process one after the other, or on Spark where the spec names a
master; frames and queries on a local Spark session, which starts when the first one comes.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol, cast

from lochan.bootstrap.driver_process import DriverProcess, TableTask, table_task
from lochan.environment import Environment
from lochan.errors import Conflict, InvalidInput
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.checks import CheckTask, Query, require_passed, run_checks
from lochan.pipelines.attempts.in_process import InProcess
from lochan.pipelines.attempts.places import Storages
from lochan.pipelines.jobs.egress import Send, sender
from lochan.pipelines.jobs.job_records import get_job, get_job_set
from lochan.pipelines.jobs.run_job import Beside, run_job
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.spec import DeclarativeTransform, Egress, FilesTransform, SparkRules
from lochan.pipelines.model.tables import get_version
from lochan.pipelines.model.work import JobTask, Manifest, Shard, Tell

# Imported when work needs it alone: it takes a second, and a package that not everybody has.
_SPARK: Final = "lochan.spark.here"


class _Spark(Protocol):
    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]: ...

    def query(self, storages: Storages) -> Query: ...

    def send(self, task: TableTask) -> None: ...

    def stop(self) -> None: ...


class HereEngine:
    """An engine that takes Spark only where the work needs it."""

    def __init__(self, lake: Lake) -> None:
        """Run in this process, on the storage of a lake."""
        self._lake = lake
        self._spark: _Spark | None = None
        self._rules = SparkRules()

    @property
    def cores(self) -> int:
        """Say that one thing is done after the other."""
        return 1

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        """Give the manifest of each shard. Raises as `Engine.run`."""
        environment = self._lake.environment
        if isinstance(task.transform, FilesTransform) and not task.spark.master:
            yield from InProcess(environment, self._lake.storage).run(task, shards, tell)
            return
        if isinstance(task.transform, DeclarativeTransform):
            yield from self._driver(task, shards, tell)
            return
        yield from self._session(task.spark).run(task, shards, tell)

    def _driver(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        """Have a project run by a process of its own, since it needs Spark Connect."""
        with TemporaryDirectory(prefix="lochan-driver-log-") as folder:
            engine = DriverProcess(lambda _: {}, Path(folder, "log"), cores=self.cores)
            yield from engine.run(task, shards, tell)

    def _session(self, rules: SparkRules | None = None) -> _Spark:
        """Give the session of this process; one that a spec wants otherwise is started anew."""
        if self._spark is None or (rules is not None and rules != self._rules):
            self.close()
            self._rules = rules or SparkRules()
            self._spark = _started(self._lake.environment, self._rules)
        return self._spark

    def check(self, task: CheckTask) -> None:
        """Run checks. Raises JobFailed."""
        environment, storages = self._lake.environment, self._lake.storage
        query = None
        if any(check.sql for check in task.checks):
            query = self._session().query(storages)
        require_passed(run_checks(task, environment, storages, query))

    def send(self, task: TableTask) -> None:
        """Send a result to a database. Raises JobFailed."""
        self._session(task.spark).send(task)

    def close(self) -> None:
        """End the session, if one was started."""
        if self._spark is not None:
            self._spark.stop()
            self._spark = None


def _started(environment: Environment, rules: SparkRules) -> _Spark:
    try:
        here = import_module(_SPARK)
    except ModuleNotFoundError as error:
        message = "frames, queries and masters need Spark: pip install 'lochan[spark]'"
        raise InvalidInput(message, code="no-spark") from error
    return cast("_Spark", here.HereSpark(environment, rules))


def run_set(lake: Lake, job_set: str) -> tuple[Job, ...]:
    """Drive the jobs of a set to their ends, upstream first. Raises what a store raises."""
    decided = get_job_set(lake.store, job_set)
    engine = HereEngine(lake)
    try:
        return tuple(_drive(lake, planned.job, engine) for planned in decided.jobs)
    finally:
        engine.close()


def _drive(lake: Lake, job_id: str, engine: HereEngine) -> Job:
    found = get_job(lake.store, job_id)

    def table(_: Lake, output: Repository, commit: Commit, egress: Egress) -> None:
        rules = get_version(lake.store, found.pipeline, found.version).spec.spark
        engine.send(table_task(output, commit, egress, rules))

    def send(egresses: Sequence[Egress]) -> Send | None:
        return sender(lake, egresses, tables=table)

    if found.state.is_end:
        return found
    try:
        return run_job(lake, job_id, engine, Beside(check=engine.check, sender=send))
    except Conflict as error:
        if error.code != "job-ended":
            raise
        return get_job(lake.store, job_id)
