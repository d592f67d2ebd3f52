# SPDX-License-Identifier: Apache-2.0
"""Which lake a Spark session speaks of.

`session` binds the two. A session that somebody else made is bound when a lake is first named with
it, and an address with a server in it needs no binding: lochan://host:port/repository/ref/path.
"""

from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from lochan.bootstrap.connected import connect
from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.model.uri import Uri

LAKE_KEY = "spark.lochan.lake"  # a folder or a URL, so that other processes find the lake too
_lakes: WeakKeyDictionary[SparkSession, Lake] = WeakKeyDictionary()


def bind(spark: SparkSession, lake: Lake) -> None:
    """Let a session speak of a lake from now on."""
    _lakes[spark] = lake
    spark.conf.set(LAKE_KEY, lake.name)


def lake_of(spark: SparkSession, uri: Uri, given: Lake | None = None) -> Lake:
    """Give the lake in which an address is looked up. Raises InvalidInput where none is known."""
    found = given or _lakes.get(spark)
    if found is not None and (not uri.server or found.name.endswith(f"//{uri.server}")):
        return found
    if uri.server:
        return connect(f"http://{uri.server}")
    message = f"this Spark session has no lake to look {uri} up in"
    raise InvalidInput(f"{message}; make it by lochan.spark.session(lake), or give lake=")
