# SPDX-License-Identifier: Apache-2.0
"""Read what a ref shows as a DataFrame, at the speed of plain Spark.

    frame = lochan.spark.read(spark, "lochan://repository/main/events")

The ref is resolved to a commit when this is called, and the DataFrame shows that commit for ever.
Partitions come from the logical paths (`events/year=2024/...`), as Spark's own reader takes them
from folders. Columns, filters and partitions are pruned by Spark itself.
"""

from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lochan.client.lake import Lake
from lochan.errors import InvalidInput, Refused
from lochan.model.uri import parse_uri
from lochan.spark.bound import lake_of
from lochan.spark.copied import copied
from lochan.spark.doors import (
    Door,
    by_server,
    choose_door,
    cloud_schemes,
    is_local,
    say_once,
)
from lochan.spark.file_index import SUPPORTED, is_supported, open_files
from lochan.spark.options import as_texts
from lochan.spark.partition_plan import open_by_partition
from lochan.spark.places import Place, find_place
from lochan.spark.resolved import File, Resolved, resolve
from lochan.spark.source import NAME, register

PARQUET: Final = "parquet"
_BASE_PATH: Final = "basePath"


def read(
    spark: SparkSession,
    address: str,
    format: str = PARQUET,  # noqa: A002 - Spark's word
    schema: StructType | str | None = None,
    *,
    staged: bool = False,
    lake: Lake | None = None,
    **options: object,
) -> DataFrame:
    """Give what is at an address; options are those of Spark's reader for the format.

    With `staged` a branch's uncommitted view is read. Raises NotFound, Refused.
    """
    uri = parse_uri(address)
    found = lake_of(spark, uri, lake)
    wanted = _schema(schema)
    told = as_texts(options)
    resolved = resolve(found, uri, staged=staged)
    if _BASE_PATH in told:
        resolved = resolved.below(parse_uri(told.pop(_BASE_PATH)).path)
    namespace = found.repository(uri.repository).properties.storage_namespace
    placed = None
    door = choose_door(spark, found, namespace)
    if door is Door.ARROW:
        return _by_python(spark, found, resolved, format, wanted, told)
    if door is Door.DIRECT:
        placed = _placed(spark, found, namespace, resolved)
    if placed is None:
        return _by_server(spark, found, resolved, format, wanted, told)
    if is_supported(spark):
        return open_files(spark, resolved.root, placed, format, wanted, told)
    versions = ", ".join(sorted(SUPPORTED))
    say_once(spark, f"Spark {spark.version} is none of {versions}: files are read by their paths")
    return open_by_partition(spark, placed, format, wanted, told)


def _placed(
    spark: SparkSession, lake: Lake, namespace: str, resolved: Resolved
) -> list[tuple[File, Place]] | None:
    """Find the files of a read; None where some can be had from the server alone."""
    schemes = cloud_schemes(spark)
    places = [find_place(file.address, namespace, schemes) for file in resolved.files]
    pairs = list(zip(resolved.files, places, strict=True))
    lost = [file for file, place in pairs if place is None]
    if not lost:
        return [(file, place) for file, place in pairs if place is not None]
    reason = f"{lost[0].key!r} and {len(lost) - 1} more objects lie where Spark cannot read them"
    if lake.credentials is not None:
        by_server(spark, lake, reason)
        return None
    if not is_local(spark):
        message = f"{reason}; serve the lake with `lochan serve`, or use a local master"
        raise Refused(message, code="storage-unreachable")
    return [(file, place or copied(resolved.reference, file)) for file, place in pairs]


def _by_server(
    spark: SparkSession,
    lake: Lake,
    resolved: Resolved,
    format_: str,
    schema: StructType | None,
    options: dict[str, str],
) -> DataFrame:
    """Let Hadoop's own client read the same commit from the server."""
    top = server_address(lake, resolved.reference.uri, resolved.folder)
    reader = spark.read.format(format_).options(**options).option(_BASE_PATH, top)
    if schema is not None:
        reader = reader.schema(schema)
    path = resolved.files[0].key if len(resolved.files) == 1 else resolved.read
    return reader.load(server_address(lake, resolved.reference.uri, path))


def _by_python(
    spark: SparkSession,
    lake: Lake,
    resolved: Resolved,
    format_: str,
    schema: StructType | None,
    options: dict[str, str],
) -> DataFrame:
    """Let the data source `lochan` read the same commit."""
    register(spark, lake)
    reader = spark.read.format(NAME).options(**options).option("fileFormat", format_)
    if schema is not None:
        reader = reader.schema(schema)
    path = resolved.files[0].key if len(resolved.files) == 1 else resolved.read
    return reader.load(f"{resolved.reference.uri}/{path}".rstrip("/"))


def server_address(lake: Lake, uri: str, path: str) -> str:
    """Give the address of a path at lochan://repository/ref on the lake's server."""
    server = lake.name.partition("://")[2]
    return f"lochan://{server}/{uri.removeprefix('lochan://')}/{path}".rstrip("/")


def _schema(schema: StructType | str | None) -> StructType | None:
    if not isinstance(schema, str):
        return schema
    found = StructType.fromDDL(schema)
    if not isinstance(found, StructType):
        raise InvalidInput(f"{schema!r} is no schema; write: id LONG, name STRING")
    return found
