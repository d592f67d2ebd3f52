# SPDX-License-Identifier: Apache-2.0
"""The output of a job as a table: for queries that check it, and to send it to a database.

The tree may be one that no ref names yet; its ranges are read from the output's namespace.
"""

from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from lochan.bootstrap.driver_process import TableTask
from lochan.committed import Files, Snapshots
from lochan.environment import Environment
from lochan.errors import JobFailed
from lochan.model.ids import MetaRangeId, StorageNamespace
from lochan.pipelines.attempts.checks import CheckTask, Query, require_passed, run_checks
from lochan.pipelines.attempts.places import ProcessPlaces, Storages
from lochan.pipelines.model.datum import Member
from lochan.pipelines.model.spec import Check, Egress
from lochan.pipelines.model.work import ReadAs
from lochan.pipelines.specs.masked_spec import HIDDEN, is_secret, masked_text
from lochan.spark.frame_inputs import open_members

OUT = "out"
# Java finds no driver by itself in a jar that a setting of the session names.
_DRIVERS: Final = {
    "postgresql": "org.postgresql.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "mariadb": "org.mariadb.jdbc.Driver",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
    "oracle": "oracle.jdbc.OracleDriver",
    "sqlite": "org.sqlite.JDBC",
}


def check_output(spark: SparkSession, task: CheckTask, environment: Environment) -> None:
    """Run all checks of an output. Raises JobFailed, code check-failed."""
    places = ProcessPlaces(environment)
    require_passed(run_checks(task, environment, places, queries(spark, environment, places)))


def queries(spark: SparkSession, environment: Environment, places: Storages) -> Query:
    """Give what runs the queries of checks on a session."""

    def ask(task: CheckTask, check: Check) -> bool:
        table = _table(spark, environment, places, task.output_namespace, task.tree)
        table.createOrReplaceTempView(OUT)
        try:
            first = spark.sql(check.sql).first()
        except Exception as error:  # Spark's errors have no common class
            reason = str(error).strip().splitlines()[0]
            raise JobFailed(
                f"{check.sql!r} cannot be run: {reason}", code="check-failed"
            ) from error
        return first is not None and first[0] is True

    return ask


def send_table(spark: SparkSession, task: TableTask, environment: Environment) -> None:
    """Write an output to a table of a database. Raises JobFailed."""
    egress = task.egress
    places = ProcessPlaces(environment)
    table = _table(spark, environment, places, task.output_namespace, task.tree)
    writer = table.write.format("jdbc").mode(egress.mode)
    if driver := _DRIVERS.get(egress.jdbc.removeprefix("jdbc:").partition(":")[0]):
        writer = writer.option("driver", driver)
    writer = writer.options(**egress.options)
    try:
        writer.option("url", egress.jdbc).option("dbtable", egress.table).save()
    except Exception as error:  # Spark's errors have no common class
        reason = _without_secrets(_told(error), egress)
        raise JobFailed(
            f"table {egress.table!r} was not written: {reason}", code="egress"
        ) from error


def _told(error: Exception) -> str:
    """Give what the database says: the innermost cause, in one line."""
    if not isinstance(error, Py4JJavaError):
        return str(error).strip().splitlines()[0]
    cause = error.java_exception
    while cause.getCause() is not None:
        cause = cause.getCause()
    return str(cause.getMessage() or cause).strip().splitlines()[0]


def _without_secrets(text: str, egress: Egress) -> str:
    for name, value in egress.options.items():
        if is_secret(name) and value:
            text = text.replace(value, HIDDEN)
    return masked_text(text)


def _table(
    spark: SparkSession,
    environment: Environment,
    places: Storages,
    namespace: str,
    tree: str,
) -> DataFrame:
    objects = places(StorageNamespace(namespace)).objects
    with Snapshots(Files(objects, environment), environment) as snapshots:
        members = [
            (namespace, Member(row.key, row.identity, row.value))
            for row in snapshots.cursor(MetaRangeId(tree))
        ]
    return open_members(spark, OUT, members, ReadAs())
