# SPDX-License-Identifier: Apache-2.0
"""An input of a job as a DataFrame: over the files of its datums, at their pinned commit.

The files are known from the plan, so nothing is listed. Partitions come from the logical paths,
from the folder on that all files share. The format is the one that the spec says, or what the
names' endings say; files of several formats in one input are refused.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from pyspark.sql import DataFrame, SparkSession

from lochan.errors import InvalidInput
from lochan.model.codec import decode_entry
from lochan.model.instant import to_seconds
from lochan.objects.foreign import is_full
from lochan.pipelines.model.datum import Datum, Member
from lochan.pipelines.model.work import JobTask, ReadAs
from lochan.spark.doors import cloud_schemes
from lochan.spark.file_index import is_supported, open_files
from lochan.spark.partition_plan import open_by_partition
from lochan.spark.places import Place, find_place
from lochan.spark.resolved import File, is_data

_FORMATS: Final = {
    "parquet": "parquet",
    "orc": "orc",
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "txt": "text",
    "log": "text",
    "md": "text",
}
_PACKED: Final = frozenset({"gz", "bz2", "zst", "snappy", "lz4", "xz"})
_CSV: Final = {"header": "true", "inferSchema": "true"}  # what people mean by a file.csv


def open_input(spark: SparkSession, task: JobTask, name: str, datums: Sequence[Datum]) -> DataFrame:
    """Give the DataFrame of an input. Raises InvalidInput where Spark cannot read it."""
    members = {
        (member.key, file.repository): (task.input_namespaces[file.repository], member)
        for datum in datums
        for file in datum.files
        if file.input == name
        for member in file.members
    }
    told = task.read_as.get(name, ReadAs())
    return open_members(spark, f"{task.pipeline}/{name}", members.values(), told)


def open_members(
    spark: SparkSession, name: str, members: Iterable[tuple[str, Member]], told: ReadAs
) -> DataFrame:
    """Give the DataFrame of objects, each with the namespace that it lies in.

    Raises InvalidInput.
    """
    read = [(namespace, member) for namespace, member in members if is_data(_text(member.key))]
    if not read:
        message = f"{name!r} has no file that Spark reads; look at its glob"
        raise InvalidInput(message, code="nothing-to-read")
    folder = _shared_folder([_text(member.key) for _, member in read])
    schemes = cloud_schemes(spark)
    placed = sorted(_placed(namespace, member, folder, schemes) for namespace, member in read)
    format_, options = told.format, dict(told.options)
    if not format_:
        format_ = _format(name, [file.key for file, _ in placed])
        options = {**_CSV, **options} if format_ == "csv" else options
    if is_supported(spark):
        return open_files(spark, f"/lochan/{name}", placed, format_, None, options)
    return open_by_partition(spark, placed, format_, None, options)


def _text(key: bytes) -> str:
    return key.decode(errors="surrogateescape")


def _placed(
    namespace: str, member: Member, folder: str, schemes: frozenset[str]
) -> tuple[File, Place]:
    entry = decode_entry(member.entry)
    key = _text(member.key)
    if not entry.address:
        message = f"{key!r} is a file of several blocks; copy it to one object for Spark"
        raise InvalidInput(message, code="several-blocks")
    address = entry.address
    if not is_full(address):
        address = f"{namespace.rstrip('/')}/{address}"
    place = find_place(address, namespace, schemes)
    if place is None:
        message = f"Spark cannot read {address}; put its Hadoop connector on the class path"
        raise InvalidInput(message, code="storage-unreachable")
    path = key.removeprefix(folder)
    return File(path, address, entry.size, to_seconds(entry.last_modified), key), place


def _shared_folder(keys: Sequence[str]) -> str:
    """Give the folder that all keys are in, without those that name partitions."""
    first, last = min(keys), max(keys)
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    parts = first[:shared].rpartition("/")[0].split("/")
    plain: list[str] = []
    for part in parts:
        if "=" in part or not part:
            break
        plain.append(part)
    return "/".join(plain) + "/" if plain else ""


def _format(name: str, keys: Sequence[str]) -> str:
    found = {_ending(key) for key in keys}
    formats = {_FORMATS.get(ending, "") for ending in found}
    if len(formats) != 1 or "" in formats:
        endings = ", ".join(sorted(found)) or "none"
        message = f"input {name!r} has files that end with {endings}; say its format in the spec"
        raise InvalidInput(message, code="format-needed")
    return formats.pop()


def _ending(key: str) -> str:
    parts = key.rpartition("/")[2].lower().split(".")
    while len(parts) > 1 and parts[-1] in _PACKED and len(parts) > 2:  # noqa: PLR2004 - name.csv.gz
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""
