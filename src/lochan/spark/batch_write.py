# SPDX-License-Identifier: Apache-2.0
"""Write a DataFrame as one commit: tasks store files, the driver links them.

    1  planning   a private branch (job-...) and an address for its folder
    2  tasks      store files, and say which
    3  commit     link what the tasks said, commit, merge into the branch; the private one goes
       abort      the private branch and its files go

`overwrite` takes away what the path had. Spark knows append and overwrite here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from lochan.client.branch import Branch
from lochan.client.job import job_branch_name
from lochan.environment import RealEnvironment
from lochan.model.uri import Uri
from lochan.spark.arrow_write import Layout, WrittenFile, write_rows
from lochan.spark.commit_files import folder_of
from lochan.spark.known_lake import KnownLake
from lochan.spark.link_files import clear_given, drop_files, link_files, ready_uploads
from lochan.spark.planned import require_ref
from lochan.spark.put_files import Target
from lochan.spark.reach import OPTION, find_reach


@dataclass(frozen=True)
class FilesWritten(WriterCommitMessage):
    """What a task stored, and for which query."""

    files: tuple[WrittenFile, ...]
    query_id: str = ""


@dataclass
class BatchWriter(DataSourceArrowWriter):
    """One write; it is sent to tasks, and to whoever commits."""

    uri: Uri
    target: Target
    layout: Layout
    private: str  # name of the branch
    message: str
    overwrite: bool

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Store the rows of a task."""
        return FilesWritten(tuple(write_rows(iterator, self.layout, self.target)))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Link what tasks stored, and make it one commit."""
        folder, files = folder_of(self.uri.path), files_of(messages)
        with self.target.reach.lake.opened() as lake:
            private = lake.repository(self.uri.repository).branch(self.private)
            if self.overwrite:
                clear_folder(private, folder)
            link_files(lake, private, folder, self.target, files)
            if next(private.uncommitted(max_amount=1), None) is not None:
                private.commit(self.message)
                private.merge_into(self.uri.ref, message=self.message, squash=True)
            private.delete()

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Leave nothing of it."""
        with self.target.reach.lake.opened() as lake:
            lake.repository(self.uri.repository).branch(self.private).delete()
            if self.target.given:
                clear_given(self.target)
            else:
                drop_files(lake, self.target, files_of(messages))


def new_writer(
    known: KnownLake, uri: Uri, options: Mapping[str, str], _: StructType, *, overwrite: bool
) -> BatchWriter:
    """Plan a write: its private branch, and where its tasks put files."""
    require_ref(uri)
    layout = layout_of(options)
    name = job_branch_name(RealEnvironment().new_id())
    folder = folder_of(uri.path)
    with known.opened() as lake:
        repository = lake.repository(uri.repository)
        reach = find_reach(known, repository, options.get(OPTION, ""))
        private = repository.branch(name).create(uri.ref, hidden=True)
        given = private.new_folder(folder) if reach.is_direct else ""
        if not reach.is_direct:
            ready_uploads(lake, uri.repository, uri.ref)
    message = options.get("message", "") or f"write {folder or '/'}"
    return BatchWriter(uri, Target(reach, given), layout, name, message, overwrite)


def layout_of(options: Mapping[str, str]) -> Layout:
    """Read how rows become files."""
    said = options.get("partitionBy", "")
    columns = tuple(name.strip() for name in said.split(",") if name.strip())
    return Layout(options.get("fileFormat", "parquet").lower(), columns)


def files_of(messages: Sequence[WriterCommitMessage | None]) -> list[WrittenFile]:
    """Join what tasks said; one that did not end said nothing."""
    return [
        file for message in messages if isinstance(message, FilesWritten) for file in message.files
    ]


def clear_folder(branch: Branch, folder: str) -> None:
    """Delete all that a branch has in a folder."""
    branch.delete_objects(stats.path for stats in list(branch.objects(folder)))
