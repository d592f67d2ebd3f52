# SPDX-License-Identifier: Apache-2.0
"""A Spark session that knows a lake, and needs no setting up.

    spark = lochan.spark.session("./lake")                             a lake in this process
    spark = lochan.spark.session(lochan.connect("http://host:8000"))   a lake behind a server
    spark = lochan.spark.session(lake, master="spark://host:7077")     any master
    spark = lochan.spark.session(lake, master="sc://host:15002")       Spark Connect

Java is found (`java`), workers run the Python that runs this, logs show errors alone, and progress
is shown on a terminal. The data source `lochan` is registered. Executors on other machines are sent
our package (`ship`). Whatever is said in `conf` goes before what is chosen here.
"""

import os
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from lochan.bootstrap.embedded import open_embedded
from lochan.client.lake import Lake
from lochan.config.surroundings import tell_children, variables
from lochan.errors import NotFound
from lochan.spark.bound import LAKE_KEY, bind
from lochan.spark.cache import cache_folder
from lochan.spark.hadoop import introduce
from lochan.spark.java import find_java
from lochan.spark.options import as_text
from lochan.spark.ship import ship, ship_settings
from lochan.spark.source import register

LOCAL: Final = "local[*]"
LAKE_VARIABLE: Final = "LOCHAN_SPARK_LAKE"  # a folder; what `lochan spark` tells scripts
MASTER_VARIABLE: Final = "LOCHAN_SPARK_MASTER"
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"  # spark-submit has started the JVM
# Spark's own list of names whose values are not shown, and the one that OAuth2 goes by.
_SECRETS: Final = "(?i)secret|password|passwd|token|credential|access[.]?key"
_QUIET: Final = """\
rootLogger.level = error
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %c{1}: %m%n
"""


def session(
    lake: Lake | str | os.PathLike[str] | None = None,
    conf: Mapping[str, object] | None = None,
    *,
    master: str | None = None,
    name: str = "lochan",
    **more: object,
) -> SparkSession:
    """Give a Spark session bound to a lake; the one of this process if there is one already.

    Without a lake it is that of `lochan spark`, or none. `master` is local[*] unless the
    environment names one (LOCHAN_SPARK_MASTER, SPARK_REMOTE) or spark-submit does. `conf` has
    Spark's settings by their names, {"spark.sql.shuffle.partitions": 8}, and so has `**more`.
    Raises NotFound, Refused where Java is missing or too old, and Refused for executors that cannot
    run our package.
    """
    opened = _opened(lake)
    master = master or _named_master()
    said = {**(conf or {}), **more}
    if master.startswith("sc://"):
        spark = _connected(master, name, said)
    else:
        spark = _classic(master, name, opened, said)
        master = str(spark.sparkContext.master)
    if opened is not None:
        bind(spark, opened)
        introduce(spark, opened)
    register(spark, opened)
    if not master.startswith(("local", "sc://")) or master.startswith("local-cluster"):
        ship(spark, cache_folder())
    return spark


def tell_processes() -> None:
    """Say to Spark's launcher and workers which Java and which Python they run."""
    known = variables()
    told = {"JAVA_HOME": str(find_java(known, cache_folder()))}
    for one in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        told[one] = known.get(one, sys.executable)
    tell_children(told)


def _classic(master: str, name: str, lake: Lake | None, conf: dict[str, object]) -> SparkSession:
    if SparkSession.getActiveSession() is None:  # else the JVM runs already
        tell_processes()
    builder = SparkSession.builder.appName(name)
    if master:
        builder = builder.master(master)
    for key, value in {**_settings(lake), **conf}.items():
        builder = builder.config(key, as_text(value))
    with warnings.catch_warnings():  # PySpark tells of its limits with pandas, which is not used
        warnings.simplefilter("ignore", FutureWarning)
        return builder.getOrCreate()


def _connected(master: str, name: str, conf: dict[str, object]) -> SparkSession:
    builder = SparkSession.builder.remote(master).appName(name)
    for key, value in conf.items():
        builder = builder.config(key, as_text(value))
    try:
        return builder.getOrCreate()
    except ImportError as error:
        message = "Spark Connect needs more packages: pip install 'lochan[connect]'"
        raise NotFound(message, code="connect-not-installed") from error


def settings(lake: Lake | None = None) -> dict[str, str]:
    """Give Spark's settings as texts, for programs that are handed to a cluster."""
    return {name: as_text(value) for name, value in _settings(lake).items()}


def _opened(lake: Lake | str | os.PathLike[str] | None) -> Lake | None:
    said = lake if lake is not None else variables().get(LAKE_VARIABLE)
    return open_embedded(said) if isinstance(said, str | os.PathLike) else said


def _settings(lake: Lake | None) -> dict[str, object]:
    told: dict[str, object] = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_log_settings()}",
        "spark.pyspark.python": variables().get("PYSPARK_PYTHON", sys.executable),
        "spark.redaction.regex": _SECRETS,
        "spark.ui.showConsoleProgress": sys.stderr.isatty(),
        "spark.sql.sources.ignoreDataLocality": True,  # one question less for each file
        **ship_settings(),
    }
    if lake is not None:
        told[LAKE_KEY] = lake.name
    return told


def _log_settings() -> Path:
    file = cache_folder() / "log4j2.properties"
    if not file.exists() or file.read_text(encoding="utf-8") != _QUIET:
        file.write_text(_QUIET, encoding="utf-8")
    return file


def _named_master() -> str:
    """Give the master that surrounds us; nothing below spark-submit, which has chosen one."""
    known = variables()
    said = known.get(MASTER_VARIABLE) or known.get("SPARK_REMOTE")
    return said or ("" if _SUBMITTED in known else LOCAL)
