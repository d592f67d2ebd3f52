# SPDX-License-Identifier: Apache-2.0
"""Commits that the rules of retention no longer keep: their objects may be gone, or go soon.

A collector writes a row for such a commit long before it removes anything that only this commit
holds. Whoever is about to build on a commit asks here first, and is refused. Whoever asked before
the row was there is done before the collector looks again (docs/formats/gc.md), and the commit is
then kept. The record of the commit, its tree and its place in history stay for ever.
"""

import msgspec

from lochan.errors import Corruption, Gone
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model.ids import CommitId
from lochan.model.instant import Instant
from lochan.model.keys import GC_EXPIRED, partition_of
from lochan.model.records import Repository


class Expired(msgspec.Struct, frozen=True, kw_only=True):
    """Since when a commit is not kept, and whether objects of its own were removed since."""

    time: Instant
    swept: str = ""  # the run that did


def expired_commits(store: Store, repository: Repository) -> Table[Expired]:
    """Give the commits of a repository that are not kept any more, by id."""
    return Table(store, partition_of(repository), GC_EXPIRED, msgspec.json.encode, _decode)


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
