# SPDX-License-Identifier: Apache-2.0
"""What Hadoop's own client needs to be told of a lake's server: lochan://host:port/... by WebHDFS.

It is told to Hadoop's configuration in the running driver, which goes to executors with each job,
and never to Spark's own settings: those are on the command line of the JVM, where every user of the
machine can read a secret. On Spark Connect the session's settings are what reaches Hadoop.

Parquet's vectored reads are turned off, unless somebody has said something of them: this client
opens a connection for each of their ranges, and a scan of 1 GB took twice as long with them.
"""

from typing import Final

from pyspark.sql import SparkSession

from lochan.client.lake import Lake

TOKEN_PATH: Final = "/oauth2/token"  # noqa: S105 - a path
_VECTORED: Final = "parquet.hadoop.vectored.io.enabled"
_OAUTH2: Final = "dfs.webhdfs.oauth2"
_PROVIDER: Final = "org.apache.hadoop.hdfs.web.oauth2.ConfCredentialBasedAccessTokenProvider"


def introduce(spark: SparkSession, lake: Lake) -> None:
    """Let a session read and write lochan://host:port/...; nothing for a lake in this process."""
    jvm_side = getattr(spark, "_jsc", None)
    told = _told(lake)
    if jvm_side is None:
        for name, value in told.items():
            spark.conf.set(name, value)
        if told and spark.conf.get(_VECTORED, None) is None:
            spark.conf.set(_VECTORED, "false")
        return
    hadoop = jvm_side.hadoopConfiguration()
    for name, value in told.items():
        hadoop.set(name, value)
    if told:
        hadoop.setIfUnset(_VECTORED, "false")


def _told(lake: Lake) -> dict[str, str]:
    if lake.credentials is None:
        return {}
    secure = "S" if lake.name.startswith("https://") else ""
    return {
        "fs.lochan.impl": f"org.apache.hadoop.hdfs.web.{secure}WebHdfsFileSystem",
        f"{_OAUTH2}.enabled": "true",
        f"{_OAUTH2}.access.token.provider": _PROVIDER,
        f"{_OAUTH2}.refresh.url": lake.name + TOKEN_PATH,
        f"{_OAUTH2}.client.id": lake.credentials.access_key_id,
        f"{_OAUTH2}.credential": lake.credentials.secret_access_key.reveal(),
    }
