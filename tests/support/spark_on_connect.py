# SPDX-License-Identifier: Apache-2.0
"""What runs on Spark Connect in tests: a write, a read and a job, findings as JSON.

python spark_on_connect.py <server's URL> <key id> <secret>
"""

import json
import sys
import warnings

from pyspark.sql import SparkSession

import lochan
import lochan.spark
from lochan.spark.bound import bind
from lochan.spark.hadoop import introduce
from lochan.spark.session import tell_processes


def main(url: str, key_id: str, secret: str) -> dict[str, object]:
    tell_processes()
    lake = lochan.connect(url, access_key_id=key_id, secret_access_key=secret)
    branch = lake.repository("connect").create().branch("main")
    spark = SparkSession.builder.remote("local[1]").getOrCreate()
    bind(spark, lake)
    introduce(spark, lake)
    frame = spark.range(50).selectExpr("id", "id % 5 AS part")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        lochan.spark.write(frame, f"{branch.uri}/t", partition_by=["part"])
        found = lochan.spark.read(spark, f"{branch.uri}/t")
        with branch.job("nightly") as job:
            lochan.spark.write(found.where("part = 1"), job.uri("one"))
    told = {
        "rows": found.count(),
        "one": lochan.spark.read(spark, f"{branch.uri}/one").count(),
        "commits": len(list(branch.log())),
        "said": [str(one.message) for one in said if "through the server" in str(one.message)],
    }
    spark.stop()
    return told


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
