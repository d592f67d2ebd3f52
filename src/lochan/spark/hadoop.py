# SPDX-License-Identifier: Apache-2.0
"""What Hadoop's own client needs to be told of a lake's server: lochan://host:port/... by WebHDFS.

The secret goes to Hadoop's configuration after the start, never through Spark's own: that one is on
the command line of the JVM, where every user of the machine can read it.
"""

from typing import Final

from pyspark.sql import SparkSession

from lochan.client.lake import Lake

TOKEN_PATH: Final = "/oauth2/token"  # noqa: S105 - a path
_OAUTH2: Final = "dfs.webhdfs.oauth2"
_PROVIDER: Final = "org.apache.hadoop.hdfs.web.oauth2.ConfCredentialBasedAccessTokenProvider"


def open_settings(lake: Lake) -> dict[str, str]:
    """Give the settings that are no secret; none for a lake in this process."""
    if lake.credentials is None:
        return {}
    secure = "S" if lake.name.startswith("https://") else ""
    return {
        "fs.lochan.impl": f"org.apache.hadoop.hdfs.web.{secure}WebHdfsFileSystem",
        f"{_OAUTH2}.enabled": "true",
        f"{_OAUTH2}.access.token.provider": _PROVIDER,
        f"{_OAUTH2}.refresh.url": lake.name + TOKEN_PATH,
    }


def tell_credentials(spark: SparkSession, lake: Lake) -> None:
    """Give Hadoop's client the key with which it asks for tokens."""
    if lake.credentials is None or not lake.credentials.access_key_id:
        return
    told = {
        f"{_OAUTH2}.client.id": lake.credentials.access_key_id,
        f"{_OAUTH2}.credential": lake.credentials.secret_access_key.reveal(),
    }
    jvm_side = getattr(spark, "_jsc", None)
    for name, value in told.items():
        if jvm_side is None:  # Connect: the session's settings reach Hadoop's
            spark.conf.set(name, value)
        else:
            jvm_side.hadoopConfiguration().set(name, value)
