# SPDX-License-Identifier: Apache-2.0
"""Addresses that get a second entry, logged before they get it (H19). docs/formats/kv-keys.md.

A collector that walks entries key by key can miss an address that moves: the new entry appears
behind it, the old one vanishes before it. It reads this log last, and keeps what is named here. For
that, a copier logs the address first and then reads its source once more: what it then copies was
named by an entry while it was in the log.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice

import msgspec

from lochan.environment import Environment
from lochan.errors import Corruption
from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model.instant import NANOSECONDS, Instant, from_seconds
from lochan.model.keys import COPIES, copies_key, partition_of
from lochan.model.records import Repository
from lochan.refs.outcomes import surely

_ADDRESSES_A_ROW = 1000
_MILLISECOND = NANOSECONDS // 1000


class CopyNote(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses that were about to get a second entry at a time."""

    time: Instant
    addresses: tuple[str, ...]


def log_copies(
    store: Store, environment: Environment, repository: Repository, addresses: Iterable[str]
) -> None:
    """Log addresses, before entries of theirs are staged."""
    waiting, table = iter(addresses), _table(store, repository)
    while chunk := tuple(islice(waiting, _ADDRESSES_A_ROW)):
        now = from_seconds(environment.now())
        key = copies_key(now // _MILLISECOND, environment.new_id()).removeprefix(COPIES)
        surely(partial(table.set, key, CopyNote(time=now, addresses=chunk)))


def logged_copies(store: Store, repository: Repository) -> Iterator[CopyNote]:
    """Give every row of the log, earliest first. Raises when the store fails."""
    for _, note in _table(store, repository).scan():
        yield note


def forget_copies(store: Store, repository: Repository, before: Instant) -> int:
    """Remove the rows that are older than an instant; count them."""
    table, removed = _table(store, repository), 0
    for key, note in table.scan():
        if note.time >= before:
            break
        table.delete(key)
        removed += 1
    return removed


def _table(store: Store, repository: Repository) -> Table[CopyNote]:
    return Table(store, partition_of(repository), COPIES, msgspec.json.encode, _decode)


def _decode(data: bytes) -> CopyNote:
    try:
        return msgspec.json.decode(data, type=CopyNote)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a CopyNote: {error}", file="a row of the copy log") from error
