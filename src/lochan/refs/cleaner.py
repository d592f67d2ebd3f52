# SPDX-License-Identifier: Apache-2.0
"""The cleaner: removes what no name leads to any more (seed 003's trash cleaner; H10, H12).

One run, in this order:

    graveler           every `deleting` record is helped to its end, and every `initial` one of two
                       minutes: crashed deletions and creations
    graveler_deleted   for each dead incarnation: note the tokens of each branch and open commit,
                       remove that record by delete_if on what was noted (again if it changed),
                       remove every other key, and in the end the note
    cleanup-tokens     for each token that its branch or open commit does not name: wipe it, remove
                       the record of a commit that was published since, then the note

Requests that began before the end may still write into a dead partition. So nothing is believed
empty at once: the first sweep dates the note, and only a sweep at least `grace_s` later removes it.
A note that was renewed meanwhile stays.

What fails is skipped and told in the report; the next run finds it again. Nothing is remembered
between runs, every step may be repeated, and every removal that could hurt is conditional: runs may
be killed anywhere, and several may work at once. Nothing here is needed for correctness, only for
tidiness.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import msgspec

from lochan.environment import Environment
from lochan.errors import Conflict, LochanError, PredicateFailed
from lochan.kv.read import find, scan_prefix
from lochan.kv.store import DropPartition, Pair, Store
from lochan.kv.table import Stored, Table
from lochan.model.codec import decode_branch, decode_open_commit, decode_repository
from lochan.model.ids import BranchName, RepositoryId, StagingToken
from lochan.model.instant import EPOCH, NANOSECONDS, from_seconds
from lochan.model.keys import (
    BRANCHES,
    CLEANUP,
    DELETED,
    GRAVELER,
    OPEN,
    REPOSITORIES,
    repository_partition,
    token_partition,
)
from lochan.model.records import RepositoryState
from lochan.refs.deletion import end_repository
from lochan.refs.notes import (
    DeletedNote,
    Note,
    TokenNote,
    deleted_notes,
    set_token_notes,
    token_notes,
)
from lochan.refs.outcomes import ATTEMPTS
from lochan.refs.repositories import is_abandoned
from lochan.refs.tables import repositories

# No request may last longer; what it stages after that is found by fsck.
GRACE_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could not be cleaned now: its partition and key, and why."""

    partition: bytes
    key: bytes
    error: LochanError


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What one run did: notes and records that are done with, by partition, and what it skipped."""

    done: Counter[bytes]
    skipped: tuple[Skipped, ...]


class Cleaner:
    """Removes dead repositories and forgotten staging tokens from one store."""

    def __init__(self, store: Store, environment: Environment, *, grace_s: float = GRACE_S) -> None:
        """Clean this store; a note outlives its first sweep by `grace_s`."""
        self._store = store
        self._environment = environment
        self._grace = int(grace_s * NANOSECONDS)
        self._stopping = False

    def run(self) -> Cleaned:
        """Clean once. Raises nothing that a store can raise: failures are in the report."""
        done = Counter[bytes]()
        skipped: list[Skipped] = []
        for partition, prefix, work in (
            (GRAVELER, REPOSITORIES, self._finish_repository),
            (DELETED, b"", self._sweep_repository),
            (CLEANUP, b"", self._sweep_token),
        ):
            rows = self._rows(partition, prefix, skipped)
            done[partition] += sum(self._try(work, partition, row, skipped) for row in rows)
        return Cleaned(done, tuple(skipped))

    def stop(self) -> None:
        """Have the run that another thread is in, and all later ones, end at once. Idempotent."""
        self._stopping = True

    def _rows(self, partition: bytes, prefix: bytes, skipped: list[Skipped]) -> Iterator[Pair]:
        """Give the rows to work on, up to where the store fails."""
        last = prefix
        try:
            for row in scan_prefix(self._store, partition, prefix):
                if self._stopping:
                    return
                last = row[0]
                yield row
        except LochanError as error:
            skipped.append(Skipped(partition, last, error))

    def _try(
        self,
        work: Callable[[bytes, bytes], bool],
        partition: bytes,
        row: Pair,
        skipped: list[Skipped],
    ) -> bool:
        try:
            return work(*row)
        except LochanError as error:
            skipped.append(Skipped(partition, row[0], error))
            return False

    def _finish_repository(self, key: bytes, value: bytes) -> bool:
        """End a deletion or a creation that nobody goes on with."""
        if decode_repository(value, where=repr(key)).repository_state is RepositoryState.ACTIVE:
            return False
        stored = repositories(self._store).find(key.removeprefix(REPOSITORIES))
        if stored is None:
            return False
        deleting = stored.record.repository_state is RepositoryState.DELETING
        if not deleting and not is_abandoned(stored.record, self._environment):
            return False
        return end_repository(self._store, self._environment, stored)

    def _sweep_repository(self, key: bytes, _: bytes) -> bool:
        """Remove what belongs to a dead incarnation."""
        table = deleted_notes(self._store)
        stored = table.find(key)
        if stored is None:
            return False
        note = stored.record
        self._refuse_living(note)
        partition = repository_partition(note.repository, note.unique_identifier)
        for row, _ in self._store.scan(partition):
            if self._stopping:
                return False
            if row.startswith((BRANCHES, OPEN)):
                self._end_owner(note, partition, row)
            else:
                self._store.delete(partition, row)
        return self._has_ended(table, key, stored)

    def _refuse_living(self, note: DeletedNote) -> None:
        """Raise for a note that no deletion has written, whoever wrote it."""
        found = repositories(self._store).find(note.repository.encode())
        if (
            found is not None
            and found.record.unique_identifier == note.unique_identifier
            and found.record.repository_state is not RepositoryState.DELETING
        ):
            message = f"repository {note.repository!r} lives, but is noted as deleted; run fsck"
            raise Conflict(message, code="living-repository", repository=note.repository)

    def _end_owner(self, note: DeletedNote, partition: bytes, key: bytes) -> None:
        """Note the tokens of a branch or open commit, then remove the record that names them (H18).

        Exactly that record: one that names other tokens by now is noted again.
        """
        for _ in range(ATTEMPTS):
            found = find(self._store, partition, key)
            if found is None:
                return
            self._note_owner(note, key, found.value)
            with suppress(PredicateFailed):  # it names other tokens now
                self._store.delete_if(partition, key, found.predicate)
                return
        raise Conflict(f"record {key!r} of a dead repository still changes", code="contended")

    def _note_owner(self, note: DeletedNote, key: bytes, value: bytes) -> None:
        token_note = TokenNote(
            repository=note.repository,
            unique_identifier=note.unique_identifier,
            branch=BranchName(""),
            time=from_seconds(self._environment.now()),
        )
        if key.startswith(OPEN):
            opened = decode_open_commit(value, where=repr(key))
            owner = msgspec.structs.replace(token_note, branch=opened.branch, open_commit=opened.id)
            set_token_notes(self._store, owner, filter(None, [opened.staging_token]))
            return
        branch = decode_branch(value, where=repr(key))
        owner = msgspec.structs.replace(token_note, branch=branch.branch_id)
        set_token_notes(self._store, owner, (branch.staging_token, *branch.sealed_tokens))

    def _sweep_token(self, key: bytes, _: bytes) -> bool:
        """Wipe a token that nobody names; one that its record names may yet be forgotten."""
        table = token_notes(self._store)
        stored = table.find(key)
        if stored is None or self._is_named(StagingToken(key.decode()), stored.record):
            return False
        self._wipe(token_partition(StagingToken(key.decode())))
        if self._stopping:
            return False
        if self._is_due(stored.record):
            self._forget_published(stored.record)
        return self._has_ended(table, key, stored)

    def _is_named(self, token: StagingToken, note: TokenNote) -> bool:
        partition = repository_partition(RepositoryId(note.repository), note.unique_identifier)
        if note.open_commit:
            found = find(self._store, partition, OPEN + note.open_commit.encode())
            if found is None:
                return False
            return token == decode_open_commit(found.value, where=note.open_commit).staging_token
        found = find(self._store, partition, BRANCHES + note.branch.encode())
        if found is None:
            return False
        branch = decode_branch(found.value, where=f"branch {note.branch!r}")
        return token == branch.staging_token or token in branch.sealed_tokens

    def _forget_published(self, note: TokenNote) -> None:
        """Remove the record of an open commit that is a commit by now; failures stay to be read."""
        if not note.open_commit:
            return
        partition = repository_partition(RepositoryId(note.repository), note.unique_identifier)
        key = OPEN + note.open_commit.encode()
        found = find(self._store, partition, key)
        if found is not None and decode_open_commit(found.value, where=repr(key)).commit_id:
            with suppress(PredicateFailed):  # another cleaner was here
                self._store.delete_if(partition, key, found.predicate)

    def _wipe(self, partition: bytes) -> None:
        if isinstance(self._store, DropPartition):
            self._store.drop_partition(partition)
            return
        for key, _ in self._store.scan(partition):
            if self._stopping:
                return
            self._store.delete(partition, key)

    def _has_ended(self, table: Table[Note], key: bytes, stored: Stored[Note]) -> bool:
        """Date the first sweep; remove a note that was swept again after the time of grace."""
        now = from_seconds(self._environment.now())
        with suppress(PredicateFailed):  # renewed, or another cleaner was here: the next run sees
            # A date in the future is that of a wrong clock, and would keep the note till then.
            if stored.record.swept == EPOCH or stored.record.swept > now:
                swept = msgspec.structs.replace(stored.record, swept=now)
                table.set_if(key, swept, stored.predicate)
            elif self._is_due(stored.record):
                table.delete_if(key, stored.predicate)
                return True
        return False

    def _is_due(self, note: DeletedNote | TokenNote) -> bool:
        """Say whether the time of grace is over since a note was first swept."""
        now = from_seconds(self._environment.now())
        return EPOCH < note.swept <= now - self._grace
