# SPDX-License-Identifier: Apache-2.0
"""Which partitions a lake has. A store cannot list them, so each is found by what names it.

    partition                      named by
    graveler, auth, ...            this file (`FIXED`)
    <repository>-<unique id>       a repository's record, whatever its state; a note about one that
                                   was deleted
    <staging token>                a branch's record; a commit that was started; a note about it

So a token that nothing names any more can be found by nobody: notes are written before names go.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from lochan.kv.read import scan_prefix
from lochan.kv.store import Store
from lochan.model.codec import decode_branch, decode_open_commit, decode_repository
from lochan.model.ids import StagingToken
from lochan.model.keys import (
    AUTH,
    BRANCHES,
    CLEANUP,
    DELETED,
    GRAVELER,
    OPEN,
    REPOSITORIES,
    partition_of,
    repository_partition,
)
from lochan.refs.notes import deleted_notes, token_notes

FIXED: Final = (GRAVELER, DELETED, CLEANUP, AUTH, b"pipelines", b"jobs")


class Names(NamedTuple):
    """The rows of a repository that name staging tokens, and the tokens; each as read."""

    branches: dict[bytes, bytes]
    opened: dict[bytes, bytes]
    tokens: tuple[StagingToken, ...]


def repository_partitions(store: Store) -> Iterator[bytes]:
    """Give the partition of each repository, living or not yet swept; one may come twice."""
    for key, value in scan_prefix(store, GRAVELER, REPOSITORIES):
        yield partition_of(decode_repository(value, where=key.decode()))
    for _, note in deleted_notes(store).scan():
        yield repository_partition(note.repository, note.unique_identifier)


def names_of(store: Store, partition: bytes) -> Names:
    """Read what names tokens in a repository's partition."""
    branches = dict(scan_prefix(store, partition, BRANCHES))
    opened = dict(scan_prefix(store, partition, OPEN))
    tokens: dict[StagingToken, None] = {}
    for key, value in branches.items():
        branch = decode_branch(value, where=key.decode())
        tokens |= dict.fromkeys((branch.staging_token, *branch.sealed_tokens))
    for key, value in opened.items():
        tokens[decode_open_commit(value, where=key.decode()).staging_token] = None
    return Names(branches, opened, tuple(token for token in tokens if token))


def noted_tokens(store: Store) -> Iterator[StagingToken]:
    """Give the tokens that the cleaner has been told of."""
    for name, _ in token_notes(store).scan():
        yield StagingToken(name.decode())
