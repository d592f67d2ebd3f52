# SPDX-License-Identifier: Apache-2.0
"""File by file: what a file was made of, and what was made of it; two look-ups in an index.

    made_of    output key -> the datums that wrote it -> what they read
    came_of    input key -> the datums that read it, or a folder it lies in -> what they wrote

A commit that no job made (a merge, a revert) is looked through: a file has come from the parent
that has the same content under its key. Only the step from one commit to its direct inputs or
results is told; whoever wants more asks again.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from lochan.errors import NotFound
from lochan.model.ids import CommitId
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.pipelines.datums.datum_index import DatumIndex
from lochan.pipelines.lineage.provenance import find_commit, find_repository, results_of
from lochan.pipelines.model.commit_metadata import JOB, PIPELINE, index_of
from lochan.pipelines.model.datum import DatumRow

MOST_LOOKED_THROUGH: Final = 1000  # commits


class FilePlace(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A file, or a folder that ends with a slash, in a commit."""

    repository: str
    commit: str
    path: str
    input: str = ""  # the name by which a pipeline read it


class FileStep(msgspec.Struct, frozen=True, kw_only=True):
    """That a datum read some files and wrote others; the code and the parameters are the job's."""

    datum: str
    job: str
    pipeline: str
    commit: str  # that the job published
    repository: str
    sources: tuple[FilePlace, ...]
    results: tuple[FilePlace, ...]


def made_of(
    lake: Lake, repository: Repository, commit: Commit, path: bytes
) -> tuple[FileStep, ...]:
    """Say which datums wrote a file, and what they read; nothing for what no job wrote.

    Raises: NotFound where the commit has no such file.
    """
    snapshots = lake.storage(repository.storage_namespace).snapshots
    found = snapshots.get(commit.meta_range_id, path)
    if found is None:
        message = f"{commit.id} has no {path.decode(errors='replace')!r}"
        raise NotFound(message, code="object-not-found", commit=commit.id)
    writer = _writer(lake, repository, commit, path, found.identity)
    if writer is None:
        return ()
    index = _index(lake, repository, writer)
    ids = index.writers([path]).get(path, ())
    return tuple(_step(repository, writer, row) for row in index.find(ids).values())


def came_of(
    lake: Lake, repository: Repository, commit: Commit, path: bytes
) -> tuple[FileStep, ...]:
    """Say which datums of direct results read a file, and what they wrote."""
    found: list[FileStep] = []
    for name, made in results_of(lake, repository, commit.id):
        output, record = find_repository(lake, name), find_commit(lake, name, made)
        if output is None or record is None or index_of(record) is None:
            continue
        index = _index(lake, output, record)
        ids = _readers(index, record, repository.repository_id, commit.id, path)
        found += (_step(output, record, row) for row in index.find(ids).values())
    return tuple(found)


def _writer(
    lake: Lake, repository: Repository, commit: Commit, path: bytes, identity: bytes
) -> Commit | None:
    """Find the job's commit from which a commit has a file."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    commits = lake.tables(repository).commits
    waiting, seen = [commit], {commit.id}
    for _ in range(MOST_LOOKED_THROUGH):
        if not waiting:
            break
        at = waiting.pop(0)
        if index_of(at) is not None and _index(lake, repository, at).writers([path]):
            return at
        for parent_id in at.parents:
            parent = commits.find(parent_id.encode())
            if parent is None or parent_id in seen:
                continue
            seen.add(parent_id)
            held = snapshots.get(parent.record.meta_range_id, path)
            if held is not None and held.identity == identity:
                waiting.append(parent.record)
    return None


def _readers(
    index: DatumIndex, made: Commit, repository: str, commit: CommitId, path: bytes
) -> list[bytes]:
    """Name the datums that read a path by any input that was pinned to this commit."""
    inputs = {
        source.input
        for source in made.provenance
        if (source.repository_id, source.commit_id) == (repository, commit)
    }
    keys = [path, *_folders(path)]
    found = (ids for name in sorted(inputs) for ids in index.readers(name, keys).values())
    return sorted({one for ids in found for one in ids})


def _folders(path: bytes) -> Iterator[bytes]:
    """Give the folders that a path lies in, the root, which is empty or a slash, among them."""
    yield b""
    yield b"/"
    for place, byte in enumerate(path):
        if byte == ord("/"):
            yield path[: place + 1]


def _index(lake: Lake, repository: Repository, commit: Commit) -> DatumIndex:
    name = index_of(commit)
    assert name is not None  # noqa: S101 - callers have looked
    return DatumIndex(lake.storage(repository.storage_namespace).snapshots, name)


def _step(output: Repository, made: Commit, row: DatumRow) -> FileStep:
    pinned: dict[tuple[str, str], str] = {
        (source.input, source.repository_id): source.commit_id for source in made.provenance
    }
    sources = (
        FilePlace(
            repository=source.repository,
            commit=pinned.get((source.input, source.repository), ""),
            path=source.key.decode(errors="surrogateescape"),
            input=source.input,
        )
        for source in row.sources
    )
    return FileStep(
        datum=row.id.hex(),
        job=row.job or made.metadata.get(JOB, ""),
        pipeline=made.metadata.get(PIPELINE, ""),
        commit=made.id,
        repository=output.repository_id,
        sources=tuple(sources),
        results=tuple(_results(output, made, row)),
    )


def _results(output: Repository, made: Commit, row: DatumRow) -> Iterable[FilePlace]:
    for each in row.outputs:
        path = each.key.decode(errors="surrogateescape")
        yield FilePlace(repository=output.repository_id, commit=made.id, path=path)
