# SPDX-License-Identifier: Apache-2.0
"""What runs on Spark Connect in tests: a write, a read, a job, the source; findings as JSON.

python spark_on_connect.py <Spark's URL> <server's URL> <key id> <secret>
"""

import json
import sys
import warnings

import lochan
import lochan.spark


def main(remote: str, url: str, key_id: str, secret: str) -> dict[str, object]:
    lake = lochan.connect(url, access_key_id=key_id, secret_access_key=secret)
    branch = lake.repository("connect").create().branch("main")
    spark = lochan.spark.session(lake, {"spark.sql.shuffle.partitions": 2}, master=remote)
    frame = spark.range(50).selectExpr("id", "id % 5 AS part")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        lochan.spark.write(frame, f"{branch.uri}/t", partition_by=["part"])
        found = lochan.spark.read(spark, f"{branch.uri}/t")
        with branch.job("nightly") as job:
            lochan.spark.write(found.where("part = 1"), job.uri("one"))
    found.write.format("lochan").mode("append").save(f"{branch.uri}/in-source")
    told = {
        "rows": found.count(),
        "one": lochan.spark.read(spark, f"{branch.uri}/one").count(),
        "by_source": spark.read.format("lochan").load(f"{branch.uri}/in-source").count(),
        "tables": sorted({one.path.split("/")[0] for one in branch.objects()}),
        "commits": len(list(branch.log())),
        "said": [str(one.message) for one in said if "through the server" in str(one.message)],
    }
    spark.stop()
    return told


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
