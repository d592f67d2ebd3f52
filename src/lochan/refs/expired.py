# SPDX-License-Identifier: Apache-2.0
"""Commits that the rules of retention no longer keep: their objects may be gone, or go soon.

A collector writes a row for such a commit a grace before it removes anything that this commit
shows. Whoever is about to build on a commit asks here first, and is refused. Whoever asked before
the row was there is done within the grace, and what it has built is a commit of its own, which the
collector then sees (docs/formats/gc.md). The record of the commit, its tree and its place in
history stay for ever.

A collector that was only slow may still be at work when another has taken over. So rows change by
compare-and-swap, each from the state in which it can be changed so.
"""

from contextlib import suppress

import msgspec

from lochan.environment import Environment
from lochan.errors import Corruption, Gone, PredicateFailed
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model.ids import CommitId
from lochan.model.instant import Instant
from lochan.model.keys import GC_EXPIRED, partition_of
from lochan.model.records import Repository


class Expired(msgspec.Struct, frozen=True, kw_only=True):
    """Since when a commit is not kept, and whether objects of its own were removed since."""

    time: Instant
    swept: str = ""  # the run that did, or has to be undone before anybody can tell


def expired_commits(store: Store, repository: Repository) -> Table[Expired]:
    """Give the commits of a repository that are not kept any more, by id."""
    return Table(store, partition_of(repository), GC_EXPIRED, msgspec.json.encode, _decode)


def expire(
    store: Store, environment: Environment, repository: Repository, commit: CommitId, now: Instant
) -> None:
    """Have nobody build on a commit from now on; one that has expired already stays as it is."""

    def expired(row: Expired | None) -> Expired:
        return row or Expired(time=now)

    expired_commits(store, repository).update(commit.encode(), expired, environment)


def sweep(
    store: Store, environment: Environment, repository: Repository, commit: CommitId, run: str
) -> None:
    """Write down that a run removes objects of an expired commit; the first to say so counts."""

    def swept(row: Expired | None) -> Expired | None:
        return msgspec.structs.replace(row, swept=run) if row and not row.swept else row

    expired_commits(store, repository).update(commit.encode(), swept, environment)


def hand_on(
    store: Store,
    environment: Environment,
    repository: Repository,
    commit: CommitId,
    run: str,
    to: str,
) -> None:
    """Say that another run has removed objects of a commit, or none, if the row names the first."""

    def handed(row: Expired | None) -> Expired | None:
        return msgspec.structs.replace(row, swept=to) if row and row.swept == run else row

    expired_commits(store, repository).update(commit.encode(), handed, environment)


def keep_again(store: Store, repository: Repository, commit: CommitId, run: str = "") -> None:
    """Let a commit be built on again that a run has swept; without a run, one that none has."""
    table = expired_commits(store, repository)
    found = table.find(commit.encode())
    if found is not None and found.record.swept == run:
        with suppress(PredicateFailed):  # somebody else decides by what is there now
            table.delete_if(commit.encode(), found.predicate)


def require_kept(store: Store, repository: Repository, *commits: CommitId) -> None:
    """Refuse to build on commits whose objects may be gone. Raises Gone, code commit-expired."""
    table = expired_commits(store, repository)
    for commit in commits:
        if table.find(commit.encode()) is not None:
            raise Gone(
                f"commit {commit} is older than the rules of retention keep, and its objects may be"
                " gone; choose a later one",
                code="commit-expired",
                commit=commit,
            )


def has_expired(store: Store, repository: Repository) -> bool:
    """Say whether objects of any commit were ever removed."""
    return any(row.swept for _, row in expired_commits(store, repository).scan())


def _decode(data: bytes) -> Expired:
    try:
        return msgspec.json.decode(data, type=Expired)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a row of an expired commit: {error}", file="gc/expired") from error
