# SPDX-License-Identifier: Apache-2.0
"""The typed tables of the partition `pipelines`; keys are those of `records`, values are JSON.

Names of pipelines, repositories and branches hold no slash, so no prefix runs into another. Equal
records give equal bytes: fields in the order of the record, keys of mappings sorted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from lochan.errors import Corruption, NotFound
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model.instant import Instant
from lochan.model.records import Repository
from lochan.pipelines.model.records import (
    PIPELINES,
    Job,
    JobSet,
    Pin,
    PipelineRecord,
    PipelineVersion,
    Seen,
    encode,
)

T = TypeVar("T")

_LARGEST_MS: Final = 10**15 - 1


@dataclass(frozen=True, slots=True)
class PipelineTables:
    """Everything that the partition holds; names are made by the functions below."""

    specs: Table[PipelineRecord]
    versions: Table[PipelineVersion]
    job_sets: Table[JobSet]
    jobs: Table[Job]
    open: Table[bytes]
    by_pipeline: Table[bytes]
    by_output: Table[str]
    came: Table[bytes]
    seen: Table[Seen]
    memo: Table[str]

    @classmethod
    def of(cls, store: Store) -> "PipelineTables":
        """Bind the tables to a store."""
        return cls(
            Table(store, PIPELINES, b"specs/", encode, _decoding(PipelineRecord)),
            Table(store, PIPELINES, b"versions/", encode, _decoding(PipelineVersion)),
            Table(store, PIPELINES, b"jobsets/", encode, _decoding(JobSet)),
            Table(store, PIPELINES, b"jobs/", encode, _decoding(Job)),
            Table(store, PIPELINES, b"open/", bytes, bytes),
            Table(store, PIPELINES, b"by-pipeline/", bytes, bytes),
            Table(store, PIPELINES, b"by-output/", str.encode, bytes.decode),
            Table(store, PIPELINES, b"came/", bytes, bytes),
            Table(store, PIPELINES, b"seen/", encode, _decoding(Seen)),
            Table(store, PIPELINES, b"memo/", str.encode, bytes.decode),
        )


def get_version(store: Store, pipeline: str, version: str) -> PipelineVersion:
    """Read one version of a pipeline; it never changes. Raises NotFound."""
    found = PipelineTables.of(store).versions.find(version_name(pipeline, version))
    if found is None:
        message = f"pipeline {pipeline!r} has no version {version!r}"
        raise NotFound(message, code="pipeline-version-not-found", pipeline=pipeline)
    return found.record


def version_name(pipeline: str, version: str) -> bytes:
    """Name a version; with an empty one, where all versions of a pipeline are."""
    return f"{pipeline}/{version}".encode()


def by_pipeline_name(pipeline: str, created: Instant, job: str) -> bytes:
    """Name a job among those of its pipeline; the newest sorts first."""
    milliseconds = created // 1_000_000
    return f"{pipeline}/{_LARGEST_MS - milliseconds:015d}/{job}".encode()


def by_output_name(repository: str, commit: str) -> bytes:
    """Name a commit that a job made."""
    return f"{repository}/{commit}".encode()


def came_name(source: Repository, commit: str, out_repository: str, out_commit: str) -> bytes:
    """Name the fact that one commit came of another."""
    return came_prefix(source, commit) + f"{out_repository}/{out_commit}".encode()


def came_of_pin(pin: Pin, out_repository: str, out_commit: str) -> bytes:
    """Name the fact that a commit came of what a job read."""
    source = f"{pin.repository}-{pin.unique_identifier}/{pin.commit}"
    return f"{source}/{out_repository}/{out_commit}".encode()


def came_prefix(source: Repository, commit: str) -> bytes:
    """Say where all is that came of a commit."""
    return f"{source.repository_id}-{source.unique_identifier}/{commit}/".encode()


def seen_name(pipeline: str, repository: Repository, branch: str) -> bytes:
    """Name what a pipeline has last seen of a branch."""
    incarnation = f"{repository.repository_id}-{repository.unique_identifier}"
    return f"{pipeline}/{incarnation}/{branch}".encode()


def memo_name(output: Repository, pipeline: str) -> bytes:
    """Name what a pipeline remembers of all that it computed into a repository."""
    return f"{output.repository_id}-{output.unique_identifier}/{pipeline}".encode()


def _decoding(kind: type[T]) -> Callable[[bytes], T]:
    """Make a reader of one kind of record. It raises Corruption."""
    decoder = msgspec.json.Decoder(kind)

    def decode(data: bytes) -> T:
        try:
            return decoder.decode(data)
        except msgspec.MsgspecError as error:
            raise Corruption(str(error), file=f"a stored {kind.__name__}") from error

    return decode
