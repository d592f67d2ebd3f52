# SPDX-License-Identifier: Apache-2.0
"""Write a DataFrame to a branch: all of it appears in one commit, or nothing does.

    lochan.spark.write(frame, "lochan://repository/main/events", mode="append")

    1  a private branch, unless the address is that of a job, which has one
    2  Spark's own writer puts files below an address of our own: data/<partition>/<id>,<sig>/...
    3  when it has returned, its files are linked to paths of the branch: metadata alone
    4  commit and merge

Attempts that failed or were too slow leave no file, or one that nobody links; collection takes it.
Where the storage cannot be reached from here Spark writes to the private branch by the server.

    mode                   what is at the path already
    append                 stays
    overwrite              goes
    overwrite-partitions   goes where a partition is written, and stays elsewhere
    error                  refuses the write (AlreadyExists)
    ignore                 makes it do nothing
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from typing import Final, Literal, NamedTuple, get_args

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

from lochan.client.branch import Branch
from lochan.client.job import Job, is_job_branch
from lochan.client.lake import Lake
from lochan.errors import AlreadyExists, InvalidInput, Refused
from lochan.model.uri import parse_uri
from lochan.shapes.staging import WrittenObject
from lochan.spark.bound import lake_of
from lochan.spark.doors import Door, choose_door, cloud_schemes
from lochan.spark.options import as_texts
from lochan.spark.places import find_place
from lochan.spark.read import PARQUET, server_address
from lochan.spark.source import NAME, register
from lochan.spark.written import Written, list_written

Mode = Literal["append", "overwrite", "overwrite-partitions", "error", "ignore"]
_NO_MARK: Final = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_DYNAMIC: Final = "partitionOverwriteMode"


class _Target(NamedTuple):
    """Where a DataFrame goes, and how."""

    spark: SparkSession
    lake: Lake
    branch: Branch  # private
    folder: str  # with a slash at its end, or empty
    mode: Mode


def write(
    frame: DataFrame,
    address: str,
    mode: Mode = "error",
    format: str = PARQUET,  # noqa: A002 - Spark's word
    partition_by: Sequence[str] = (),
    *,
    message: str = "",
    lake: Lake | None = None,
    **options: object,
) -> str:
    """Write to a path of a branch, and give the commit; nothing inside a job, or if ignored.

    Options are those of Spark's writer for the format. Raises AlreadyExists, Refused, Conflict.
    """
    if mode not in get_args(Mode):
        raise InvalidInput(f"{mode!r} is no mode; there are {', '.join(get_args(Mode))}")
    if mode == "overwrite-partitions" and not partition_by:
        raise InvalidInput("overwrite-partitions needs partition_by, to know what goes")
    uri = parse_uri(address)
    spark = frame.sparkSession
    found = lake_of(spark, uri, lake)
    repository = found.repository(uri.repository)
    branch = repository.branch(uri.ref)
    folder = uri.path.strip("/") + "/" if uri.path.strip("/") else ""
    if mode in {"error", "ignore"} and _exists(branch, folder):
        if mode == "ignore":
            return ""
        message = f"there is something at {address} already; choose mode append or overwrite"
        raise AlreadyExists(message, code="path-exists")
    door = choose_door(spark, found, repository.properties.storage_namespace)
    writer = frame.write.format(format).options(**as_texts(options))
    if partition_by and door is not Door.ARROW:
        writer = writer.partitionBy(*partition_by)
    with _private(branch, message or f"write {folder or '/'}") as job:
        target = _Target(spark, found, job.branch, folder, mode)
        if door is Door.SERVER:
            _save_by_server(target, writer)
        elif door is Door.ARROW:
            _save_by_python(target, writer.option("fileFormat", format), partition_by)
        else:
            _save_direct(target, writer)
    return job.commit_id


def _private(branch: Branch, name: str) -> AbstractContextManager[Job[Branch]]:
    if is_job_branch(branch.id):
        return nullcontext(Job(name, "", branch))
    return branch.job(name)


def _save_direct(target: _Target, writer: DataFrameWriter) -> None:
    """Let Spark write below an address of our own, then link what it has committed."""
    branch, folder = target.branch, target.folder
    physical = branch.new_folder(folder)
    place = find_place(physical, "", cloud_schemes(target.spark))
    if place is None:
        raise Refused(f"Spark cannot write to {physical}", code="storage-unreachable")
    writer.option(_NO_MARK, "false").save(str(place))
    found = list_written(target.spark, place, target.lake.transport.environment)
    _make_room(target, found)
    branch.link_objects(folder, (_link(folder, physical, one) for one in found))


def _make_room(target: _Target, found: Iterable[Written]) -> None:
    """Take away what the mode says, on the private branch."""
    if target.mode == "overwrite":
        prefixes = {target.folder}
    elif target.mode == "overwrite-partitions":
        prefixes = {f"{target.folder}{one.path.rpartition('/')[0]}/" for one in found}
    else:
        return
    for prefix in sorted(prefixes):
        listed = target.branch.objects(prefix, user_metadata=False)
        target.branch.delete_objects([one.path for one in listed])


def _link(folder: str, physical: str, one: Written) -> WrittenObject:
    address = f"{physical}/{one.physical}"
    return WrittenObject(
        path=folder + one.path,
        physical_address=address,
        # Nobody has read the bytes; but they lie at an address that is never written again.
        checksum=sha256(address.encode()).hexdigest()[:32],
        size_bytes=one.size,
        mtime=one.mtime,
    )


def _save_by_server(target: _Target, writer: DataFrameWriter) -> None:
    """Let Hadoop's own client write to the private branch."""
    if target.mode == "overwrite-partitions":
        writer = writer.option(_DYNAMIC, "dynamic")
    mode = "overwrite" if target.mode.startswith("overwrite") else "append"
    writer.mode(mode).save(server_address(target.lake, target.branch.uri, target.folder))


def _save_by_python(target: _Target, writer: DataFrameWriter, partition_by: Sequence[str]) -> None:
    """Let the data source `lochan` write to the private branch, which makes a commit there."""
    if target.mode == "overwrite-partitions":
        message = "overwrite-partitions needs storage that Spark reaches, or a lake behind a server"
        raise Refused(message, code="storage-unreachable")
    if next(iter(target.branch.uncommitted(max_amount=1)), None) is not None:
        target.branch.commit("written before")
    register(target.spark, target.lake)
    if partition_by:
        writer = writer.option("partitionBy", ",".join(partition_by))
    mode = "overwrite" if target.mode == "overwrite" else "append"
    writer.format(NAME).mode(mode).save(f"{target.branch.uri}/{target.folder}".rstrip("/"))


def _exists(branch: Branch, folder: str) -> bool:
    return next(iter(branch.objects(folder, max_amount=1, user_metadata=False)), None) is not None
