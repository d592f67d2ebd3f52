# SPDX-License-Identifier: Apache-2.0
"""Save a whole KV store as files of an object store, while the lake is used.

A store gives no common moment of all its partitions, so rows are read in an order in which what was
read first never needs what was written after it. For each repository:

    1. clock rows    each names a published commit; missing ones are mended when they are needed
    2. names         branches, tags and started commits, twice, with what is staged between. Only
                     when both looks are equal do they count: then all were so at one moment, no
                     token had been given up, and the heads are no older than any clock row
    3. the rest      rows that a published commit needs were written before its branch moved
    4. commits       written before anybody named them, and never removed

What comes after that moment is left out, as if the lake had crashed then. Repositories' own records
come last of all, so that a restored store has none before it has everything. A repository that was
deleted meanwhile is saved as one that is being deleted, and the cleaner ends it. One that was being
created stays so, whatever became of it: its first commit may have come too late. Notes of the
cleaner are saved, the dead rows that they tell of are not.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import IO, Final

import msgspec

from lochan.environment import Environment
from lochan.errors import Conflict
from lochan.kv.read import find, scan_prefix
from lochan.kv.store import Store
from lochan.model.codec import decode_repository, encode_repository
from lochan.model.instant import from_seconds
from lochan.model.keys import (
    BRANCHES,
    CLOCKS,
    COMMITS,
    GRAVELER,
    OPEN,
    REPOSITORIES,
    TAGS,
    partition_of,
    token_partition,
)
from lochan.model.records import Repository, RepositoryState
from lochan.objects.store import ObjectStore
from lochan.operations.kv_snapshot_parts import (
    FORMAT,
    PART_BYTES,
    Part,
    Row,
    Snapshot,
    chunked,
    decode_rows,
    encode_rows,
    put_manifest,
    put_part,
    row_bytes,
)
from lochan.refs.partitions import FIXED, names_of

LOOKS: Final = 100  # at names that change; each takes as long as reading what is staged
_NAMES: Final = (BRANCHES, TAGS, OPEN)
_LENGTH: Final = 8


class Saved(msgspec.Struct, frozen=True):
    """How far a snapshot is."""

    rows: int
    size_bytes: int


def _untold(_: Saved) -> None:
    """Tell nobody."""


def snapshot_store(
    store: Store,
    objects: ObjectStore,
    environment: Environment,
    *,
    part_bytes: int = PART_BYTES,
    progress: Callable[[Saved], None] = _untold,
) -> Snapshot:
    """Save all that a lake keeps in its store.

    Raises: Conflict (code names-change) for a repository whose branches never stand still;
    Corruption for records that cannot be read; Unavailable, UnknownOutcome.
    """
    now = environment.now()
    snapshot_id = f"{datetime.fromtimestamp(now, tz=UTC):%Y%m%dT%H%M%SZ}-{environment.new_id()[:8]}"
    parts: list[Part] = []
    rows = size = 0
    for number, chunk in enumerate(chunked(_rows(store), part_bytes)):
        parts.append(put_part(objects, snapshot_id, number, chunk))
        rows += len(chunk)
        size += sum(map(row_bytes, chunk))
        progress(Saved(rows, size))
    snapshot = Snapshot(
        format=FORMAT,
        id=snapshot_id,
        created=from_seconds(now),
        rows=rows,
        size_bytes=size,
        parts=tuple(parts),
    )
    put_manifest(objects, snapshot)
    return snapshot


def _rows(store: Store) -> Iterator[Row]:
    found = {
        key: decode_repository(value, where=key.decode(errors="replace"))
        for key, value in scan_prefix(store, GRAVELER, REPOSITORIES)
    }
    for repository in found.values():
        yield from _repository(store, repository)
    for partition in FIXED:
        if partition != GRAVELER:
            yield from _scanned(store, partition)
    for key, repository in found.items():
        yield GRAVELER, key, encode_repository(_now(store, key, repository))


def _now(store: Store, key: bytes, repository: Repository) -> Repository:
    """Give a repository's record as it is, or as deleting where another has its name now."""
    if repository.repository_state is RepositoryState.INITIAL:
        return repository
    stored = find(store, GRAVELER, key)
    if stored is not None:
        current = decode_repository(stored.value, where=key.decode(errors="replace"))
        if current.unique_identifier == repository.unique_identifier:
            return current
    return msgspec.structs.replace(repository, repository_state=RepositoryState.DELETING)


def _repository(store: Store, repository: Repository) -> Iterator[Row]:
    partition = partition_of(repository)
    yield from _scanned(store, partition, CLOCKS)
    yield from _names(store, repository)
    for row in _scanned(store, partition):
        if not row[1].startswith((*_NAMES, CLOCKS, COMMITS)):
            yield row
    yield from _scanned(store, partition, COMMITS)


def _names(store: Store, repository: Repository) -> Iterator[Row]:
    """Give what names commits and tokens, and what is staged, as it all was at one moment."""
    partition = partition_of(repository)
    before = _look(store, partition)
    for _ in range(LOOKS):
        with closing(TemporaryFile()) as staged:
            for token in names_of(store, partition).tokens:
                _write(staged, _scanned(store, token_partition(token)))
            after = _look(store, partition)
            if before == after:
                yield from _written(staged)
                yield from after
                return
            before = after
    message = (
        f"branches of {repository.repository_id!r} changed during {LOOKS} looks; make the"
        " snapshot at another time, or the repository read-only meanwhile"
    )
    raise Conflict(message, code="names-change", repository=repository.repository_id)


def _look(store: Store, partition: bytes) -> list[Row]:
    return [row for prefix in _NAMES for row in _scanned(store, partition, prefix)]


def _scanned(store: Store, partition: bytes, prefix: bytes = b"") -> Iterator[Row]:
    return ((partition, key, value) for key, value in scan_prefix(store, partition, prefix))


def _write(file: IO[bytes], rows: Iterator[Row]) -> None:
    for chunk in chunked(rows):
        data = encode_rows(chunk)
        file.write(len(data).to_bytes(_LENGTH, "big") + data)


def _written(file: IO[bytes]) -> Iterator[Row]:
    file.seek(0)
    while length := file.read(_LENGTH):
        yield from decode_rows(file.read(int.from_bytes(length, "big")), "a file of our own")
