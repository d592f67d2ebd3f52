# SPDX-License-Identifier: Apache-2.0
"""What runs in tests on a Spark over a real S3; findings as JSON.

python spark_on_s3.py <namespace> <lake's folder> <server's URL> <key id> <secret> [<jars>]

The folder of jars has hadoop-aws and what it needs; without it Spark has no connector for S3.
"""

import json
import sys
import warnings
from pathlib import Path

from pyspark.sql import SparkSession

import lochan
import lochan.spark
from lochan.client import Lake
from lochan.config.surroundings import variables


def scene(spark: SparkSession, lake: Lake, namespace: str) -> dict[str, object]:
    branch = lake.repository("shop").create(namespace).branch("main")
    frame = spark.range(60).selectExpr("id", "id % 3 AS part")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        lochan.spark.write(frame, f"{branch.uri}/t", partition_by=["part"], lake=lake)
        found = lochan.spark.read(spark, f"{branch.uri}/t", lake=lake)
        with branch.job("nightly") as job:
            lochan.spark.write(found.where("part = 1"), job.uri("one"), lake=lake)
    return {
        "rows": found.count(),
        "one": lochan.spark.read(spark, f"{branch.uri}/one", lake=lake).count(),
        "commits": len(list(branch.log())),
        "schemes": sorted({file.partition("://")[0] for file in found.inputFiles()}),
        "said": [str(one.message) for one in said if "Hadoop connector" in str(one.message)],
    }


def connector(jars: Path) -> dict[str, object]:
    """Give the settings of Spark's own way to the S3 that the environment names."""
    told = variables()
    return {
        "spark.jars": ",".join(str(jar) for jar in sorted(jars.glob("*.jar"))),
        "spark.hadoop.fs.s3a.endpoint": told["AWS_ENDPOINT_URL"],
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": True,
        "spark.hadoop.fs.s3a.connection.ssl.enabled": False,
        "spark.hadoop.fs.s3a.access.key": told["AWS_ACCESS_KEY_ID"],
        "spark.hadoop.fs.s3a.secret.key": told["AWS_SECRET_ACCESS_KEY"],
    }


def main(
    namespace: str, folder: str, url: str, key_id: str, secret: str, jars: str = ""
) -> dict[str, object]:
    here = lochan.open(folder, namespace_prefixes=[namespace])
    settings: dict[str, object] = {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 2}
    if jars:
        settings.update(connector(Path(jars)))
    spark = lochan.spark.session(here, settings, master="local[2]")
    there = lochan.connect(url, access_key_id=key_id, secret_access_key=secret)
    found: dict[str, object] = {
        "here": scene(spark, here, f"{namespace}/here"),
        "there": scene(spark, there, f"{namespace}/there"),
    }
    spark.stop()
    return found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
