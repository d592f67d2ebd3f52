# SPDX-License-Identifier: Apache-2.0
"""The Spark half of running jobs in this process (`bootstrap.run_here`), for work that needs it."""

from collections.abc import Iterator, Sequence

from pyspark.sql import SparkSession

from lochan.bootstrap.driver_process import TableTask
from lochan.environment import Environment
from lochan.pipelines.attempts.checks import Query
from lochan.pipelines.attempts.places import Storages
from lochan.pipelines.model.spec import SparkRules
from lochan.pipelines.model.work import JobTask, Manifest, Shard, Tell
from lochan.spark.drive import job_session
from lochan.spark.frames import FrameRun
from lochan.spark.job_engine import SparkEngine
from lochan.spark.output_tables import queries, send_table


class HereSpark:
    """A session of this process, and what jobs do with it."""

    def __init__(self, environment: Environment, rules: SparkRules) -> None:
        """Start it as a spec says; one that this process has already is taken as it is."""
        self._environment = environment
        found = SparkSession.getActiveSession()
        self._is_ours = found is None
        self._session = found or job_session("pipelines", rules)

    def run(self, task: JobTask, shards: Sequence[Shard], tell: Tell) -> Iterator[Manifest]:
        """Give the manifest of each shard. Raises as `Engine.run`."""
        engine = SparkEngine(self._session, self._environment, FrameRun(self._environment))
        return engine.run(task, shards, tell)

    def query(self, storages: Storages) -> Query:
        """Give what runs a check's query."""
        return queries(self._session, self._environment, storages)

    def send(self, task: TableTask) -> None:
        """Write an output to a table of a database. Raises JobFailed."""
        send_table(self._session, task, self._environment)

    def stop(self) -> None:
        """End the session that was started here."""
        if self._is_ours:
            self._session.stop()
