# SPDX-License-Identifier: Apache-2.0
"""Notes for the cleaner: what may have to be removed. docs/formats/cleaner-notes.md.

    graveler_deleted   repo/<repository>/<unique id>   DeletedNote: an incarnation that is dead
    cleanup-tokens     <staging token>                 TokenNote: a token that the record of a
                                                       branch, or of an open commit, names or named

A note about a token is written *before* the compare-and-swap that makes its branch forget it (H10):
without that order a crash between the two would leave rows that no key leads to, since a store
cannot list its partitions. So a note says only "look here": the cleaner reads the one record that
the note points to, and wipes the token if that record no longer names it. Tokens never come back,
so the answer stays true. Only tokens that this record has named may be noted.

A note about an incarnation is written after its record was made `deleting`, which is for ever.

Notes are JSON: they are read by people in trouble. Equal notes are equal bytes.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import msgspec

from lochan.environment import Environment
from lochan.errors import Corruption
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model.ids import (
    BranchName,
    OpenCommitId,
    RepositoryId,
    StagingToken,
    UniqueIdentifier,
)
from lochan.model.instant import EPOCH, Instant, from_seconds
from lochan.model.keys import CLEANUP, DELETED, deleted_key
from lochan.model.records import OpenCommit, Repository
from lochan.refs.outcomes import surely


class DeletedNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An incarnation that is deleted; `swept` is when its partition was first seen empty."""

    repository: RepositoryId
    unique_identifier: UniqueIdentifier
    time: Instant
    swept: Instant = EPOCH


class TokenNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token and the one record that may name it; `swept` is when it was first wiped.

    That is the branch's record, or the open commit's where `open_commit` names one.
    """

    repository: RepositoryId
    unique_identifier: UniqueIdentifier
    branch: BranchName
    time: Instant
    swept: Instant = EPOCH
    open_commit: OpenCommitId = OpenCommitId("")


Note = TypeVar("Note", DeletedNote, TokenNote)


def deleted_notes(store: Store) -> Table[DeletedNote]:
    """Give the notes about dead incarnations; their names are whole keys."""
    return Table(store, DELETED, b"", msgspec.json.encode, _decoder(DeletedNote))


def token_notes(store: Store) -> Table[TokenNote]:
    """Give the notes about staging tokens, by token."""
    return Table(store, CLEANUP, b"", msgspec.json.encode, _decoder(TokenNote))


def note_deleted(store: Store, environment: Environment, repository: Repository) -> None:
    """Tell the cleaner of an incarnation whose record is `deleting` or gone. Idempotent.

    An earlier note is replaced by a younger one, so that a cleaner at its end begins again.
    """
    note = DeletedNote(
        repository=repository.repository_id,
        unique_identifier=repository.unique_identifier,
        time=from_seconds(environment.now()),
    )
    surely(lambda: deleted_notes(store).set(deleted_key(repository), note))


def note_tokens(
    store: Store,
    environment: Environment,
    repository: Repository,
    branch: BranchName,
    tokens: Iterable[StagingToken],
) -> None:
    """Tell the cleaner of tokens, before their branch record ceases to name them. Idempotent."""
    note = TokenNote(
        repository=repository.repository_id,
        unique_identifier=repository.unique_identifier,
        branch=branch,
        time=from_seconds(environment.now()),
    )
    set_token_notes(store, note, tokens)


def note_open_commit(
    store: Store, environment: Environment, repository: Repository, opened: OpenCommit
) -> None:
    """Tell the cleaner of an open commit's token, before its record ceases to name it."""
    note = TokenNote(
        repository=repository.repository_id,
        unique_identifier=repository.unique_identifier,
        branch=opened.branch,
        time=from_seconds(environment.now()),
        open_commit=opened.id,
    )
    set_token_notes(store, note, [opened.staging_token])


def set_token_notes(store: Store, note: TokenNote, tokens: Iterable[StagingToken]) -> None:
    """Store one note for each of several tokens of one record."""
    table = token_notes(store)
    for token in tokens:
        surely(partial(table.set, token.encode(), note))


def _decoder(kind: type[Note]) -> Callable[[bytes], Note]:
    decoder = msgspec.json.Decoder(kind)

    def decode(data: bytes) -> Note:
        try:
            return decoder.decode(data)
        except msgspec.DecodeError as error:
            raise Corruption(f"not a {kind.__name__}: {error}", file="a cleaner's note") from error

    return decode
