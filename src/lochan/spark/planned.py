# SPDX-License-Identifier: Apache-2.0
"""What a read is planned to be: one commit, its files, their columns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from lochan.client.commit import Commit
from lochan.errors import InvalidInput, NotFound
from lochan.model.uri import Uri
from lochan.spark.arrow_files import arrow_schema
from lochan.spark.commit_files import commit_files, folder_of
from lochan.spark.known_lake import KnownLake
from lochan.spark.reach import OPTION, PinnedFile, Reach, find_reach
from lochan.spark.shaped import TOLD, partition_types, with_told


class Planned(NamedTuple):
    """A commit and its files below a folder."""

    reach: Reach
    commit: Commit
    folder: str
    files: list[PinnedFile]


def plan(known: KnownLake, uri: Uri, options: Mapping[str, str]) -> Planned:
    """Pin a ref to its commit and list its files. Raises NotFound where there is none."""
    require_ref(uri)
    with known.opened() as lake:
        repository = lake.repository(uri.repository)
        commit = repository.commit(uri.ref)
        reach = find_reach(known, repository, options.get(OPTION, ""))
    files = commit_files(reach, commit, uri.path)
    if not files:
        raise NotFound(f"there is nothing to read at {uri}", code="nothing-to-read")
    return Planned(reach, commit, folder_of(uri.path), files)


def inferred_schema(known: KnownLake, uri: Uri, options: Mapping[str, str]) -> StructType:
    """Take the columns from the first file, from paths, and from what was asked for."""
    found = plan(known, uri, options)
    return schema_of(found.reach, found.files, found.folder, options)


def schema_of(
    reach: Reach, files: Sequence[PinnedFile], folder: str, options: Mapping[str, str]
) -> StructType:
    """Take the columns from the first of some files, and from the paths of all."""
    first = files[0]
    has = arrow_schema(reach.open(first), first.path, options)
    by_path = partition_types((file.path for file in files), folder)
    own = from_arrow_schema(has, prefer_timestamp_ntz=False)
    schema = StructType([field for field in own if field.name not in by_path])
    for name, kind in by_path.items():
        schema = schema.add(name, kind)
    is_asked = options.get("told", "").lower() == "true"
    return with_told(schema, TOLD if is_asked else ())


def require_ref(uri: Uri) -> None:
    """Refuse an address without a ref."""
    if not uri.ref:
        raise InvalidInput(f"{uri} names no ref; write lochan://repository/ref/path")
