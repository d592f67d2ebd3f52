# SPDX-License-Identifier: Apache-2.0
"""A branch as the sink of a stream: exactly one commit for each batch.

Spark repeats a batch when it does not know whether it was done, and an old driver may still run
beside the new one. So a batch is known by its query and its number, which its commit carries:

    lochan.stream.query    the query's id, which lasts as long as its checkpoint
    lochan.stream.batch    the number of the batch

    1  the branch has this batch, or a later one of the query: nothing is to be done
    2  tag stream-<query>-<batch> exists: its commit is the batch's, go on with 5
    3  stage the files on a private branch and commit them
    4  claim the batch: make that tag, at this commit. Who comes second takes the first's commit
    5  look again, as in 1: between then and now others may have come and gone
    6  merge the claimed commit into the branch: the one moment at which the batch appears
    7  remove the private branch, and the tag of the batch before

Whoever gets to 6 merges the same commit, and a commit that a branch has is not merged again: so two
drivers bring one. A tag goes only when a later batch is in, and whoever claims it after that sees
so in 5. On the branch's line of first parents there is one commit for each batch that has rows.

Output mode `complete` replaces what the path had. Options are those of a write in one go.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from lochan.client.branch import Branch
from lochan.client.job import job_branch_name
from lochan.client.lake import Lake
from lochan.client.repository import Repository
from lochan.environment import RealEnvironment
from lochan.errors import AlreadyExists, InvalidInput, NotFound
from lochan.model.uri import Uri
from lochan.spark.arrow_write import Layout, WrittenFile, write_rows
from lochan.spark.batch_write import FilesWritten, clear_folder, files_of, layout_of
from lochan.spark.commit_files import folder_of
from lochan.spark.known_lake import KnownLake
from lochan.spark.link_files import drop_files, link_files, ready_uploads
from lochan.spark.planned import require_ref
from lochan.spark.put_files import Target
from lochan.spark.reach import OPTION, find_reach

QUERY: Final = "lochan.stream.query"
BATCH: Final = "lochan.stream.batch"
_QUERY_PROPERTY: Final = "sql.streaming.queryId"  # Spark's own


@dataclass
class StreamSink(DataSourceStreamArrowWriter):
    """The sink of one query; it is sent to tasks, and to whoever commits."""

    uri: Uri
    target: Target
    layout: Layout
    message: str
    overwrite: bool

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Store the rows of a task."""
        context = TaskContext.get()
        query = context.getLocalProperty(_QUERY_PROPERTY) if context else None
        return FilesWritten(tuple(write_rows(iterator, self.layout, self.target)), query or "")

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - as Spark calls it
        """Make one commit of a batch, whoever else tries the same."""
        files = files_of(messages)
        queries = {one.query_id for one in messages if isinstance(one, FilesWritten)}
        if not files and not (self.overwrite and queries):
            return
        if len(queries) != 1 or "" in queries:
            raise InvalidInput("the tasks do not say to which query they belong", code="no-query")
        with self.target.reach.lake.opened() as lake:
            land(lake, self, files, queries.pop(), batchId)

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803 - as Spark calls it
        """Remove what the tasks of a failed batch stored."""
        with self.target.reach.lake.opened() as lake:
            drop_files(lake, self.target, files_of(messages))


def new_sink(
    known: KnownLake, uri: Uri, options: Mapping[str, str], _: StructType, *, overwrite: bool
) -> StreamSink:
    """Plan a sink."""
    require_ref(uri)
    layout = layout_of(options)
    with known.opened() as lake:
        repository = lake.repository(uri.repository)
        reach = find_reach(known, repository, options.get(OPTION, ""))
        if not reach.is_direct:
            ready_uploads(lake, uri.repository, uri.ref)
    return StreamSink(uri, Target(reach), layout, options.get("message", ""), overwrite)


def land(
    lake: Lake, sink: StreamSink, files: Sequence[WrittenFile], query: str, batch: int
) -> None:
    """Bring a batch to the branch, once."""
    repository = lake.repository(sink.uri.repository)
    branch = repository.branch(sink.uri.ref)
    newest = newest_batch(branch, query)
    claimed = find_claim(repository, query, batch) if newest < batch else ""
    if newest >= batch or claimed:
        drop_files(lake, sink.target, files)
    else:
        claimed = _claim(lake, sink, files, query, batch)
    if claimed:
        newest = newest_batch(branch, query)
    if newest < batch:
        merge_claim(repository, claimed, sink, query, batch)
    _forget_claims(repository, query, batch, newest)


def newest_batch(branch: Branch, query: str) -> int:
    """Give the number of a query's last batch in the history of a branch; -1 if it has none."""
    for commit in branch.log(first_parent=True):
        if commit.metadata.get(QUERY) == query:
            return int(commit.metadata[BATCH])
    return -1


def find_claim(repository: Repository, query: str, batch: int) -> str:
    """Give the commit that was claimed for a batch; else nothing."""
    try:
        return repository.ref(_tag(query, batch)).get_commit().id
    except NotFound:
        return ""


def merge_claim(
    repository: Repository, claimed: str, sink: StreamSink, query: str, batch: int
) -> None:
    """Merge the commit of a batch, unless the branch has it."""
    message = sink.message or f"batch {batch} of stream {query}"
    try:
        repository.ref(claimed).merge_into(
            sink.uri.ref,
            message=message,
            metadata={QUERY: query, BATCH: str(batch)},
            strategy="source-wins" if sink.overwrite else "",
        )
    except InvalidInput as error:
        if error.code != "no-changes":
            raise


def _claim(
    lake: Lake, sink: StreamSink, files: Sequence[WrittenFile], query: str, batch: int
) -> str:
    """Commit a batch's files apart, and give the commit that was claimed first."""
    repository, folder = lake.repository(sink.uri.repository), folder_of(sink.uri.path)
    private = repository.branch(job_branch_name(RealEnvironment().new_id()))
    private.create(sink.uri.ref, hidden=True)
    try:
        if sink.overwrite:
            clear_folder(private, folder)
        link_files(lake, private, folder, sink.target, files)
        made = private.commit(f"batch {batch} of stream {query}", allow_empty=True)
        try:
            repository.tag(_tag(query, batch)).create(made.id)
        except AlreadyExists:
            return find_claim(repository, query, batch)
        return made.id
    finally:
        private.delete()


def _forget_claims(repository: Repository, query: str, batch: int, newest: int) -> None:
    """Remove the tags of batches behind which a later one is in."""
    for number in (batch - 1, batch) if newest > batch else (batch - 1,):
        if find_claim(repository, query, number):
            with suppress(NotFound):  # another driver was quicker
                repository.tag(_tag(query, number)).delete()


def _tag(query: str, batch: int) -> str:
    return f"stream-{query}-{batch}"
