# SPDX-License-Identifier: Apache-2.0
"""What runs in tests on a Spark without hadoop-aws, over a real S3; findings as JSON.

python spark_on_s3.py <namespace> <lake's folder> <server's URL> <key id> <secret>
"""

import json
import sys
import warnings

from pyspark.sql import SparkSession

import lochan
import lochan.spark
from lochan.client import Lake


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
        "said": [str(one.message) for one in said if "Hadoop connector" in str(one.message)],
    }


def main(namespace: str, folder: str, url: str, key_id: str, secret: str) -> dict[str, object]:
    here = lochan.open(folder, namespace_prefixes=[namespace])
    settings = {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 2}
    spark = lochan.spark.session(here, settings, master="local[2]")
    there = lochan.connect(url, access_key_id=key_id, secret_access_key=secret)
    found: dict[str, object] = {
        "by_python": scene(spark, here, f"{namespace}/here"),
        "by_server": scene(spark, there, f"{namespace}/there"),
    }
    spark.stop()
    return found


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
