# SPDX-License-Identifier: Apache-2.0
"""Write what somebody who helps needs to know of a lake, and nothing that is nobody's business.

The bundle is a zip of JSON lines. Each file has a list of fields, chosen one by one: names, ids,
times, counts. What people wrote (messages, metadata, committers, patterns), paths, contents and
everything in the auth partition but users' names stay out; of a storage namespace, credentials do.
So a field that is added to a record later stays out as well, until somebody lists it here.

    about.json            versions and drivers      tags.jsonl
    repositories.jsonl                              staging.jsonl     rows under each token
    branches.jsonl                                  started.jsonl     commits that were started
    commits.jsonl         the first `commits` ids   rows.jsonl        rows in each table, by kind
    users.jsonl           names alone               unreadable.jsonl  keys that cannot be decoded

Nothing is changed. A store that does not answer raises, and the bundle is then of no use.
"""

import platform
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import distributions
from itertools import islice
from typing import IO, TypeVar

import msgspec

from lochan.errors import Corruption
from lochan.kv.read import scan_prefix
from lochan.kv.store import Store
from lochan.model.codec import (
    decode_branch,
    decode_commit,
    decode_open_commit,
    decode_repository,
    decode_staged_entry,
    decode_tag,
)
from lochan.model.ids import StagingToken
from lochan.model.instant import from_seconds
from lochan.model.keys import (
    AUTH,
    BRANCHES,
    COMMITS,
    GRAVELER,
    OPEN,
    REPOSITORIES,
    TAGS,
    partition_of,
    token_partition,
)
from lochan.model.records import Branch, Commit, OpenCommit, Repository, Tag
from lochan.operations.lake import Lake
from lochan.operations.view import tokens_of
from lochan.refs.open_commits import state_of
from lochan.refs.partitions import FIXED

FORMAT = 1
MOST_COMMITS = 10_000  # of each repository
MOST_ROWS = 100_000  # counted under each token
_USERS = b"iam/users/"

Row = dict[str, object]
R = TypeVar("R")


def diagnose(lake: Lake, out: IO[bytes], *, commits: int = MOST_COMMITS) -> None:
    """Write the bundle to an open binary file. Raises Unavailable."""
    unreadable: list[Row] = []
    found = list(_decoded(lake.store, GRAVELER, REPOSITORIES, decode_repository, unreadable))

    def each(
        prefix: bytes, decode: Callable[[bytes, str], R], row: Callable[[R], Row], most: int = -1
    ) -> Iterator[Row]:
        for repository in found:
            records = _decoded(lake.store, partition_of(repository), prefix, decode, unreadable)
            for record in islice(records, most if most >= 0 else None):
                yield {"repository_id": repository.repository_id, **row(record)}

    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
        _write(bundle, "about.json", [_about(lake)])
        _write(bundle, "repositories.jsonl", map(_repository, found))
        _write(bundle, "branches.jsonl", each(BRANCHES, decode_branch, _branch))
        _write(bundle, "commits.jsonl", each(COMMITS, decode_commit, _commit, commits))
        _write(bundle, "tags.jsonl", each(TAGS, decode_tag, _tag))
        _write(bundle, "started.jsonl", each(OPEN, decode_open_commit, _started))
        _write(bundle, "staging.jsonl", _staging(lake, found))
        _write(bundle, "rows.jsonl", _rows(lake, found))
        _write(bundle, "users.jsonl", _users(lake))
        _write(bundle, "unreadable.jsonl", unreadable)


def masked(storage_namespace: str) -> str:
    """Take credentials and options out of a storage namespace."""
    place, question, _ = storage_namespace.partition("?")
    scheme, _, rest = place.partition("://")
    if "@" in rest and not rest.startswith("/"):  # a mere path has no credentials
        place = f"{scheme}://***@{rest.rpartition('@')[2]}"
    return place + ("?***" if question else "")


def _write(bundle: zipfile.ZipFile, name: str, rows: Iterable[Row]) -> None:
    # Without a date of its own, so that equal lakes give equal bundles.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with bundle.open(entry, "w") as stream:
        for row in rows:
            stream.write(msgspec.json.encode(row) + b"\n")


def _decoded(
    store: Store,
    partition: bytes,
    prefix: bytes,
    decode: Callable[[bytes, str], R],
    unreadable: list[Row],
) -> Iterator[R]:
    for key, value in scan_prefix(store, partition, prefix):
        try:
            yield decode(value, key.decode(errors="replace"))
        except Corruption:
            unreadable.append(
                {
                    "partition": partition.decode(errors="replace"),
                    "key": key.decode(errors="replace"),
                    "size_bytes": len(value),
                }
            )


def _about(lake: Lake) -> Row:
    installed = {found.name.lower(): found.version for found in distributions()}
    return {
        "format": FORMAT,
        "created": from_seconds(lake.environment.now()),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "machine": platform.machine(),
        "kv_driver": type(lake.store).__name__,
        "packages": dict(sorted(installed.items())),
    }


def _repository(repository: Repository) -> Row:
    return {
        "repository_id": repository.repository_id,
        "storage_namespace": masked(repository.storage_namespace),
        "default_branch": repository.default_branch,
        "creation_date": repository.creation_date,
        "repository_state": repository.repository_state.name.lower(),
        "unique_identifier": repository.unique_identifier,
        "read_only": repository.read_only,
        "protection_rules": len(repository.branch_protection),
    }


def _branch(branch: Branch) -> Row:
    return {
        "branch_id": branch.branch_id,
        "commit_id": branch.commit_id,
        "hidden": branch.hidden,
        "lineage": branch.lineage,
        "ordinals": branch.ordinals,
        "staging_token": branch.staging_token,
        "sealed_tokens": branch.sealed_tokens,
        "forgotten_count": len(branch.forgotten),
        "compacted_base_meta_range_id": branch.compacted_base_meta_range_id,
    }


def _commit(commit: Commit) -> Row:
    return {
        "id": commit.id,
        "creation_date": commit.creation_date,
        "meta_range_id": commit.meta_range_id,
        "parents": commit.parents,
        "version": commit.version,
        "generation": commit.generation,
        "clocks": commit.clocks,
        "metadata_count": len(commit.metadata),
        "message_length": len(commit.message),
        "provenance_count": len(commit.provenance),
    }


def _tag(tag: Tag) -> Row:
    return {"tag_id": tag.tag_id, "commit_id": tag.commit_id}


def _started(opened: OpenCommit) -> Row:
    return {
        "id": opened.id,
        "branch": opened.branch,
        "started": opened.started,
        "state": state_of(opened).value,
        "staging_token": opened.staging_token,
    }


def _staging(lake: Lake, found: list[Repository]) -> Iterator[Row]:
    """Count what is staged; what cannot be decoded was told with its record, or is counted."""
    for repository in found:
        partition = partition_of(repository)
        for branch in _decoded(lake.store, partition, BRANCHES, decode_branch, []):
            for token in tokens_of(branch):
                yield {
                    "repository_id": repository.repository_id,
                    "branch_id": branch.branch_id,
                    "staging_token": token,
                    "sealed": token != branch.staging_token,
                    **_count(lake, token),
                }


def _count(lake: Lake, token: StagingToken) -> Row:
    rows = tombstones = damaged = 0
    for _, value in islice(lake.store.scan(token_partition(token)), MOST_ROWS):
        rows += 1
        try:
            tombstones += decode_staged_entry(value).is_tombstone
        except Corruption:
            damaged += 1
    more = rows == MOST_ROWS
    return {"rows": rows, "tombstones": tombstones, "unreadable": damaged, "maybe_more": more}


def _rows(lake: Lake, found: list[Repository]) -> Iterator[Row]:
    """Count the rows of each partition by the first part of their keys."""
    for partition in (*FIXED, *map(partition_of, found)):
        kinds = Counter(_kind(partition, key) for key, _ in lake.store.scan(partition))
        for kind, count in sorted(kinds.items()):
            yield {"partition": partition.decode(), "kind": kind, "rows": count}


def _kind(partition: bytes, key: bytes) -> str:
    """Give the part of a key that says what kind of row it is; never one that somebody chose."""
    first, slash, rest = key.decode(errors="replace").partition("/")
    if partition == AUTH:
        first = f"{first}/{rest.partition('/')[0]}"
    return first if slash else ""


def _users(lake: Lake) -> Iterator[Row]:
    for key, _ in scan_prefix(lake.store, AUTH, _USERS):
        yield {"user": key.removeprefix(_USERS).decode(errors="replace")}
