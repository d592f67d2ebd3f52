# SPDX-License-Identifier: Apache-2.0
"""What is staged under one token: set, get and list. docs/formats/kv-keys.md.

A token is a partition of the store, and a path is a key in it. A tombstone is a row without an
identity: it hides what the commit below holds. Which token a branch writes to is not known here; a
token that no branch names any more is the cleaner's.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from lochan.kv.read import find, scan_prefix
from lochan.kv.set_many import set_many
from lochan.kv.store import Place, Predicate, Present, Store
from lochan.model.codec import decode_staged_entry, encode_staged_entry
from lochan.model.ids import StagingToken
from lochan.model.keys import STAGED, token_partition
from lochan.model.records import StagedEntry

Found = tuple[StagedEntry, Predicate]


class StagingArea:
    """The staged rows of every token in one store."""

    def __init__(self, store: Store) -> None:
        """Keep rows in this store."""
        self._store = store

    def set(self, token: StagingToken, entry: StagedEntry) -> None:
        """Stage a write or a tombstone, over what is there."""
        self._store.set(token_partition(token), STAGED + entry.key, encode_staged_entry(entry))

    def set_if(self, token: StagingToken, entry: StagedEntry, predicate: Present | None) -> None:
        """Stage only over the row that `find` gave; None: only where there is none."""
        key, value = STAGED + entry.key, encode_staged_entry(entry)
        self._store.set_if(token_partition(token), key, value, predicate)

    def set_many(self, token: StagingToken, entries: Iterable[StagedEntry]) -> None:
        """Stage many writes; each is atomic, all together are not."""
        set_many(self._store, token_partition(token), staged_rows(entries))

    def delete_if(self, token: StagingToken, key: bytes, predicate: Present) -> None:
        """Take back the row that `find` gave. Raises PredicateFailed where it is another by now."""
        self._store.delete_if(token_partition(token), STAGED + key, predicate)

    def find(self, token: StagingToken, key: bytes) -> Found | None:
        """Give the row of a key and its predicate; None where the token says nothing of it."""
        found = find(self._store, token_partition(token), STAGED + key)
        return (decode_staged_entry(found.value), found.predicate) if found else None

    def place_of(self, token: StagingToken, key: bytes) -> Place:
        """Say where the row of a key lies, for who reads it together with other records."""
        return token_partition(token), STAGED + key

    def scan(self, token: StagingToken, start: bytes = b"") -> Iterator[StagedEntry]:
        """Give the rows from `start` on, in key order. Raises when the store fails."""
        partition = token_partition(token)
        for key, value in self._store.scan(partition, STAGED + start):
            if not key.startswith(STAGED):
                return
            yield decode_staged_entry(value)

    def scan_values(self, token: StagingToken, rows: int) -> Iterator[list[bytes]]:
        """Give the rows as they are stored, in key order, so many at a time."""
        pairs = scan_prefix(self._store, token_partition(token), STAGED)
        while chunk := list(islice(pairs, rows)):
            yield [value for _, value in chunk]

    def is_empty(self, token: StagingToken) -> bool:
        """Say whether nothing is staged. Raises when the store fails: that is not emptiness."""
        return next(self.scan(token), None) is None


def staged_rows(entries: Iterable[StagedEntry]) -> dict[bytes, bytes]:
    """Give staged writes as a token's partition holds them; of a key that comes twice, the last."""
    return {STAGED + entry.key: encode_staged_entry(entry) for entry in entries}
