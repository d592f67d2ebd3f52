# SPDX-License-Identifier: Apache-2.0
"""The records of commits that were started: open/<id>, and what state one is in.

    open -> finishing -> published        `commit_id` names the commit
      `---------`------> failed           `error` says why

Nobody leads to such a record but its id, which start_commit gave: log, refs and listings of commits
do not know it. Publication is the branch's compare-and-swap; this record follows it.
"""

from collections.abc import Iterator
from enum import StrEnum

from lochan.errors import NotFound
from lochan.kv.store import Store
from lochan.kv.table import Stored, Table
from lochan.model.codec import decode_open_commit, encode_open_commit
from lochan.model.ids import OpenCommitId
from lochan.model.keys import OPEN, partition_of
from lochan.model.records import OpenCommit, Repository
from lochan.refs.seek import scan_from


class State(StrEnum):
    """How far an open commit has come."""

    OPEN = "open"
    FINISHING = "being finished"
    PUBLISHED = "finished"
    FAILED = "failed"


def open_commits(store: Store, repository: Repository) -> Table[OpenCommit]:
    """Give a repository's commits that were started, by id."""
    return Table(store, partition_of(repository), OPEN, encode_open_commit, decode_open_commit)


def find_open_commit(store: Store, repository: Repository, name: str) -> Stored[OpenCommit] | None:
    """Read a commit that was started, if this is the id of one."""
    # No id holds half of a surrogate pair: it may pass, and finds nothing.
    return open_commits(store, repository).find(name.encode(errors="surrogatepass"))


def get_open_commit(
    store: Store, repository: Repository, open_id: OpenCommitId
) -> Stored[OpenCommit]:
    """Read a commit that was started. Raises NotFound."""
    found = find_open_commit(store, repository, open_id)
    if found is None:
        message = f"no commit {open_id!r} is open; it was finished some time ago, or never started"
        raise NotFound(message, code="open-commit-not-found", open_commit=open_id)
    return found


def list_open_commits(
    store: Store, repository: Repository, start: str = ""
) -> Iterator[OpenCommit]:
    """Give the commits that were started and not published, from id `start` on, by id."""
    for _, opened in scan_from(open_commits(store, repository), start):
        if state_of(opened) is not State.PUBLISHED:
            yield opened


def state_of(opened: OpenCommit) -> State:
    """Say how far an open commit has come."""
    if opened.commit_id:
        return State.PUBLISHED
    if opened.error:
        return State.FAILED
    return State.FINISHING if opened.finished else State.OPEN
