# SPDX-License-Identifier: Apache-2.0
"""By which door a session reaches the bytes of a repository.

    DIRECT    Spark's own readers and writers on the storage
    SERVER    the lake's server, which speaks WebHDFS: lochan://host:port/...
    ARROW     the data source `lochan`: Python workers read and write the storage

Direct is taken where the storage can be reached: a disk that driver and executors see, or a cloud
whose Hadoop connector is on the class path. Spark Connect has no driver JVM of ours, so it always
goes by the server. A cloud without a connector is reached by the server, and without a server by
Python, which is slower. Another door than the direct one is said once.
"""

import warnings
from enum import Enum
from pathlib import Path
from typing import Final
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from lochan.client.lake import Lake
from lochan.errors import Refused
from lochan.spark import asked
from lochan.spark.hadoop import introduce
from lochan.spark.places import schemes_of
from lochan.spark.ship import ask

_LOCAL: Final = "local://"
_LAYOUT: Final = ".lochan/layout"  # which every local namespace has


class Door(Enum):
    """How bytes are reached."""

    DIRECT = "direct"
    SERVER = "server"
    ARROW = "arrow"


class _Known:
    """What was found out of a session, once."""

    def __init__(self) -> None:
        self.schemes: frozenset[str] | None = None
        self.doors: dict[str, tuple[Door, str]] = {}
        self.said: set[str] = set()


_known: WeakKeyDictionary[SparkSession, _Known] = WeakKeyDictionary()


def is_classic(spark: SparkSession) -> bool:
    """Say whether the driver's JVM is at hand; on Spark Connect it is not."""
    return hasattr(spark, "_jsparkSession")


def is_local(spark: SparkSession) -> bool:
    """Say whether all runs in one JVM on this machine."""
    master = spark.sparkContext.master or ""
    return master.startswith("local") and not master.startswith("local-cluster")


def cloud_schemes(spark: SparkSession) -> frozenset[str]:
    """Say which clouds a session can read by itself."""
    known = _of(spark)
    if known.schemes is None:
        known.schemes = schemes_of(spark)
    return known.schemes


def choose_door(spark: SparkSession, lake: Lake, namespace: str) -> Door:
    """Choose how a session reaches a namespace. Raises Refused where there is no way."""
    known = _of(spark)
    if namespace not in known.doors:
        known.doors[namespace] = _found(spark, namespace)
    door, reason = known.doors[namespace]
    if door is Door.ARROW and lake.credentials is None:
        say_once(spark, f"{reason}: Python reads and writes the bytes")
        return Door.ARROW
    if door is not Door.DIRECT:
        by_server(spark, lake, reason)
        return Door.SERVER
    return door


def by_server(spark: SparkSession, lake: Lake, reason: str) -> None:
    """Say once that bytes go through the server. Raises Refused where there is none."""
    if lake.credentials is None:
        message = f"{reason}, and the lake in {lake.name} has no server to go by"
        raise Refused(f"{message}; start one with `lochan serve`", code="storage-unreachable")
    introduce(spark, lake)
    say_once(spark, f"{reason}: bytes go through the server {lake.name}")


def say_once(spark: SparkSession, message: str) -> None:
    """Warn of something the first time that a session meets it."""
    known = _of(spark)
    if message not in known.said:
        known.said.add(message)
        warnings.warn(message, RuntimeWarning, stacklevel=4)


def _found(spark: SparkSession, namespace: str) -> tuple[Door, str]:
    if not is_classic(spark):
        return Door.SERVER, "Spark Connect has no driver of its own here"
    if namespace.startswith(_LOCAL):
        layout = Path(namespace.removeprefix(_LOCAL)) / _LAYOUT
        if not layout.exists():
            return Door.SERVER, f"{namespace} is not a folder of this machine"
        if not is_local(spark) and ask(spark.sparkContext, asked.Sees((str(layout),))) != {"yes"}:
            return Door.SERVER, f"the executors do not see {namespace}"
        return Door.DIRECT, ""
    scheme = namespace.partition("://")[0]
    if scheme in cloud_schemes(spark):
        return Door.DIRECT, ""
    return Door.ARROW, f"this Spark has no Hadoop connector for {scheme}://"


def _of(spark: SparkSession) -> _Known:
    return _known.setdefault(spark, _Known())
