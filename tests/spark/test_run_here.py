# SPDX-License-Identifier: Apache-2.0
"""The example's pipelines on a lake in a folder, by the command: the query starts Spark there."""

import codecs
import json
from pathlib import Path

from pyspark.sql import SparkSession

import lochan
from lochan.environment import RealEnvironment
from lochan.pipelines.model.spec import SparkRules
from lochan.spark.here import HereSpark
from support import command

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "pipelines" / "pipeline.yaml"
LIBRARY = Path(codecs.__file__).parent


def test_a_query_over_what_a_function_wrote_runs_in_the_process_of_who_asks(tmp_path: Path) -> None:
    with lochan.open(tmp_path / "lake") as lake:
        main = lake.repository("python").create().branch("main")
        for path in sorted(LIBRARY.glob("*.py"))[:40]:
            main.upload(f"lib/{path.name}", path)
        main.upload("lib/broken.py", "def (:\n")
        main.commit("some modules")
        lake.pipelines.create(EXAMPLE)
        ran = command.lochan(tmp_path, "pipeline", "run", "modules", "--lake", "lake", "--json")
        assert ran.returncode == 0, ran.stderr
        modules, imports = json.loads(ran.stdout)
        assert (modules["counts"]["processed"], modules["counts"]["failed"]) == (40, 1)
        assert imports["state"] == "success"
        table = lake.repository("imports").ref("main")
        lines = [line for one in table.objects() for line in table.object(one.path).open("r")]
        assert len(lines) == 20
        assert {"imported", "modules"} == set(json.loads(lines[0]))


def test_who_has_a_session_keeps_it_when_jobs_have_run_beside_it(spark: SparkSession) -> None:
    name = spark.sparkContext.appName
    HereSpark(RealEnvironment(), SparkRules(conf={"spark.sql.shuffle.partitions": "7"})).stop()
    assert spark.range(3).count() == 3
    assert spark.sparkContext.appName == name
    assert spark.conf.get("spark.sql.shuffle.partitions") != "7"
