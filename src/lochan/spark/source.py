# SPDX-License-Identifier: Apache-2.0
"""The data source `lochan`: a branch for Spark's own verbs, in batches and as a stream.

    spark.read.format("lochan").load("lochan://repository/main/events")
    frame.write.format("lochan").mode("append").save("lochan://repository/main/events")
    spark.readStream.format("lochan").load("lochan://repository/main/events")
    frames.writeStream.format("lochan").option(...).start("lochan://repository/main/events")

    option            for       means
    lake              all       folder or URL; else the session's lake
    reach             all       how tasks reach the storage: auto, direct or server (`reach`)
    fileFormat        files     parquet, csv or json, where names do not tell; parquet when written
    header, sep       CSV       a first line of names: true; what parts the columns: a comma
    told              reading   true: the columns _path, _commit_id, _change too (`shaped`)
    table             reading   a metadata table instead of files (`tables`)
    partitionBy       writing   columns, with commas, that become folders
    message           writing   what the commit says

Streams have options of their own (`stream_source`, `stream_sink`). Spark makes the source anew in
each process that plans, reads or commits, so it holds nothing but options.
"""

from typing import ClassVar, Final

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader
from pyspark.sql.types import StructType

from lochan.client.lake import Lake
from lochan.errors import InvalidInput
from lochan.model.uri import Uri, parse_uri
from lochan.spark.batch_read import FilesReader
from lochan.spark.batch_write import BatchWriter, new_writer
from lochan.spark.known_lake import KnownLake, find_lake
from lochan.spark.planned import inferred_schema
from lochan.spark.stream_sink import StreamSink, new_sink
from lochan.spark.stream_source import CommitStream
from lochan.spark.table_source import TableReader, table_schema

NAME: Final = "lochan"


class LochanSource(DataSource):
    """A path of a repository, or one of its metadata tables."""

    bound: ClassVar[KnownLake | None] = None  # the lake of the session that registered it

    @classmethod
    def name(cls) -> str:
        """Give the format's name."""
        return NAME

    def schema(self) -> StructType:
        """Find the columns of what is read."""
        if self.table:
            return table_schema(self.table)
        return inferred_schema(self.known, self.uri, self.options)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Read a commit once."""
        if self.table:
            return TableReader(self.known, self.uri, self.options, schema)
        return FilesReader(self.known, self.uri, self.options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:  # noqa: FBT001 - as Spark calls it
        """Write rows as one commit."""
        return new_writer(self.known, self.uri, self.options, schema, overwrite=overwrite)

    def streamReader(self, schema: StructType) -> CommitStream:  # noqa: N802 - as Spark calls it
        """Read commit after commit."""
        return CommitStream(self.known, self.uri, self.options, schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamSink:  # noqa: FBT001, N802 - as Spark calls it
        """Write each batch as one commit."""
        return new_sink(self.known, self.uri, self.options, schema, overwrite=overwrite)

    @property
    def uri(self) -> Uri:
        """Say what is read or written. Raises InvalidInput."""
        path = self.options.get("path", "")
        if not path:
            raise InvalidInput("give an address: .load('lochan://repository/ref/path')")
        return parse_uri(path)

    @property
    def table(self) -> str:
        """Name the metadata table that is asked for, if one is."""
        return self.options.get("table", "")

    @property
    def known(self) -> KnownLake:
        """Say in which lake."""
        return find_lake(self.uri, self.options, self.bound)


def register(spark: SparkSession, lake: Lake | None = None) -> None:
    """Make the format known to a session, and let it speak of a lake.

    The lake, with its credentials, is part of the class that is sent; no plan shows it.
    """
    known = None if lake is None else KnownLake.of(lake)
    spark.dataSource.register(type("BoundSource", (LochanSource,), {"bound": known}))
