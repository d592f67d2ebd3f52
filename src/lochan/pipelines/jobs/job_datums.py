# SPDX-License-Identifier: Apache-2.0
"""What became of a job's datums, and what they printed.

The rows are those of the index that the job's commit names. A job that published nothing has none;
its lines are there while its attempts' folder is (`work`).
"""

from collections.abc import Iterator

import msgspec

from lochan.errors import Corruption, NotFound
from lochan.model.ids import CommitId, RepositoryId
from lochan.objects.store import ObjectStore
from lochan.objects.walk import walk
from lochan.operations.lake import Lake
from lochan.pipelines.attempts.manifests import LOG
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.model.commit_metadata import index_of
from lochan.pipelines.model.datum import DatumRow
from lochan.pipelines.model.log_line import LogLine
from lochan.pipelines.model.records import Job
from lochan.pipelines.model.work import WORK
from lochan.refs.commits import get_commit
from lochan.refs.repositories import get_repository


def datums_of(lake: Lake, job: Job, *, after: bytes = b"") -> Iterator[DatumRow]:
    """Give the datums of a job's output, by id, those behind `after`."""
    if not job.commit:
        return
    output = get_repository(lake.store, lake.environment, RepositoryId(job.output_repository))
    commit = get_commit(lake.tables(output), CommitId(job.commit))
    name = index_of(commit)
    if name is None:
        return
    snapshots = lake.storage(output.storage_namespace).snapshots
    yield from DatumIndex(snapshots, name).rows(after)


def lines_of(lake: Lake, job: Job, datum: str = "") -> Iterator[LogLine]:
    """Give what a job's attempts logged, shard by shard; of one datum, by how its id begins."""
    output = get_repository(lake.store, lake.environment, RepositoryId(job.output_repository))
    objects = lake.storage(output.storage_namespace).objects
    for listed in walk(objects, f"{WORK}/{job.id}/"):
        if listed.address.endswith(f"/{LOG}"):
            for line in _lines(objects, listed.address):
                if line.datum.startswith(datum):
                    yield line


def _lines(objects: ObjectStore, address: str) -> Iterator[LogLine]:
    """Read a log line by line: it may be far larger than memory."""
    decoder, held = msgspec.json.Decoder(LogLine), b""
    try:
        with objects.get(address) as reading:
            for chunk in reading:
                *whole, held = (held + chunk).split(b"\n")
                yield from map(decoder.decode, whole)
    except NotFound:  # swept since it was listed
        return
    except msgspec.MsgspecError as error:
        raise Corruption(f"not a line of a log: {error}", file=address) from error
