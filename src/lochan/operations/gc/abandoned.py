# SPDX-License-Identifier: Apache-2.0
"""Private branches whose makers are gone: a process that is killed cannot delete its own.

Jobs, transactions and commits of local folders work on a hidden branch with a drawn name
(`job-`, `tx-` or `local-`, and 32 hex digits), and delete it at their end. One that is left behind
is found by two looks:

    first     its state is written down: its record, and what is staged on it
    second    a week or more later. The same state: nobody works there, and the branch goes.
              Another one: that is written down instead

So a job may last as long as it likes, if it stages or commits something once a week. One that loses
its branch fails, and its destination stays as it was. What only the branch named is then collected
like anything else. Any process may look at any time, also several at once: what was seen is removed
exactly as it was seen, or not at all.
"""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import msgspec

from lochan.errors import Conflict, Corruption, NotFound
from lochan.kv.table import Stored, Table
from lochan.model.codec import encode_branch
from lochan.model.ids import BranchName
from lochan.model.instant import NANOSECONDS, Instant, from_seconds
from lochan.model.keys import GC_IDLE, partition_of
from lochan.model.records import Branch, Repository
from lochan.operations.branches import delete_seen_branch
from lochan.operations.lake import Lake
from lochan.operations.view import tokens_of
from lochan.refs.branches import get_branch, list_branches

IDLE_S: Final = 7 * 24 * 3600.0
_PRIVATE: Final = re.compile(r"(job|tx|local)-[0-9a-f]{32}\Z")
_ROWS: Final = 5_000


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    time: Instant
    state: str


def clear_abandoned(lake: Lake, repository: Repository, idle_s: float = IDLE_S) -> list[BranchName]:
    """Look at every private branch, and delete those on which nothing has happened for so long.

    Raises: Unavailable, Corruption, UnknownOutcome.
    """
    table = _table(lake, repository)
    seen = {BranchName(name.decode()): row for name, row in table.scan()}
    private = set(_private(lake, repository))
    for name in sorted(seen.keys() - private):
        table.delete(name.encode())
    found = ((name, seen.get(name)) for name in sorted(private))
    return [name for name, row in found if _clear(lake, repository, name, row, idle_s)]


def _private(lake: Lake, repository: Repository) -> Iterator[BranchName]:
    for branch in list_branches(lake.tables(repository), hidden=True):
        if branch.hidden and _PRIVATE.match(branch.branch_id):
            yield branch.branch_id


def _clear(
    lake: Lake, repository: Repository, name: BranchName, seen: _Seen | None, idle_s: float
) -> bool:
    """Look at one branch, where a look is due; say whether it was deleted."""
    now = from_seconds(lake.environment.now())
    is_due = seen is not None and now - seen.time >= idle_s * NANOSECONDS
    if seen is not None and not is_due:
        return False
    try:
        stored = get_branch(lake.tables(repository), name)
        state = _state(lake, stored)
        is_idle = seen is not None and state == seen.state
        if is_idle or not idle_s:
            delete_seen_branch(lake, repository, stored)
    except Conflict:
        return False  # its maker works on it
    except NotFound as error:
        if error.code != "branch-not-found":
            raise
        return False  # its maker deleted it
    table = _table(lake, repository)
    if is_idle or not idle_s:
        table.delete(name.encode())
        return True
    table.set(name.encode(), _Seen(time=now, state=state))
    return False


def _state(lake: Lake, stored: Stored[Branch]) -> str:
    digest = sha256(encode_branch(stored.record))
    for token in tokens_of(stored.record):
        for chunk in lake.staging.scan_values(token, _ROWS):
            for row in chunk:
                digest.update(len(row).to_bytes(8, "little") + row)
    return digest.hexdigest()


def _table(lake: Lake, repository: Repository) -> Table[_Seen]:
    return Table(lake.store, partition_of(repository), GC_IDLE, msgspec.json.encode, _decode)


def _decode(data: bytes) -> _Seen:
    try:
        return msgspec.json.decode(data, type=_Seen)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a row of a private branch: {error}", file="gc/idle") from error
