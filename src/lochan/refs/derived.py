# SPDX-License-Identifier: Apache-2.0
"""The rows that follow from the commits: clock/, reach/ and merged/, for a whole history at once.

They are what `ClockIndex.place` and `ReachIndex.write` would have written, commit by commit, and
are computed by the same code over rows kept in memory; about a kilobyte a merge. Restoring writes
them in bulk, fsck compares them with what is stored, repair does both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lochan.environment import Environment
from lochan.errors import NotFound
from lochan.kv.open import open_store
from lochan.kv.set_many import set_many
from lochan.kv.store import Pair
from lochan.model.ids import CommitId
from lochan.model.keys import clock_key, partition_of
from lochan.model.records import Clock, Commit, Repository
from lochan.refs.clock_index import ClockIndex
from lochan.refs.history import History
from lochan.refs.reach import ReachIndex
from lochan.refs.tables import RepositoryTables


def derived_rows(
    history: History, marked: bytearray, repository: Repository, environment: Environment
) -> Iterator[Pair]:
    """Give every row of the published commits, which are the marked ones; clocks come first.

    Requires: the marked commits are closed under parents, and no two have one place.
    """
    places, _ = history.places(marked)
    for clock, number in places.items():
        yield clock_key(*clock), history.commit_id(number).encode()
    yield from _reach_rows(history, marked, places, repository, environment)


def _reach_rows(
    history: History,
    marked: bytearray,
    places: Mapping[Clock, int],
    repository: Repository,
    environment: Environment,
) -> Iterator[Pair]:
    store = open_store("memory://", environment)
    tables = RepositoryTables.of(store, repository)
    partition = partition_of(repository)
    clocks = _KnownClocks(store, partition, tables.commits, tables.branches, history, places)
    index = ReachIndex(store, partition, clocks)
    for number in history.merges(marked):
        merge = history.commit(number)
        parents = (history.commit(history.number(parent)) for parent in merge.parents)
        rows = index.assuming(merge, *parents).rows(merge)
        set_many(store, partition, rows)
        yield from rows.items()


@dataclass(frozen=True, slots=True)
class _KnownClocks(ClockIndex):
    """Places as a history in memory knows them; no store is asked."""

    history: History
    places: Mapping[Clock, int]

    def find(self, clock: Clock) -> CommitId | None:
        number = self.places.get(clock)
        return None if number is None else self.history.commit_id(number)

    def commit(self, clock: Clock) -> Commit:
        number = self.places.get(clock)
        if number is None:
            raise NotFound(f"no commit has place {clock.commit} of line {clock.branch}")
        return self.history.commit(number)
