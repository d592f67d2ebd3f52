# SPDX-License-Identifier: Apache-2.0
"""Merge base and ancestor test in a history of 100,000 commits, 10,000 of them merges.

Two branches part in the middle, and each then merges the same three others from time to time, ten
times in all. Reads are counted as a store sees them: each get, and each row of a scan. The
yardstick walks: it takes commits from both sides by generation until one was seen from both.
"""

import heapq
import sys
from collections.abc import Iterator

import msgspec

from lochan.environment import RealEnvironment
from lochan.kv.open import open_store
from lochan.kv.store import Pair, Store, Versioned
from lochan.model.clock import next_clock
from lochan.model.commit_id import new_commit
from lochan.model.ids import (
    EMPTY_TREE,
    BranchName,
    CommitId,
    LineageId,
    RepositoryId,
    StagingToken,
    StorageNamespace,
    UniqueIdentifier,
)
from lochan.model.instant import Instant
from lochan.model.records import Branch, Commit, Repository
from lochan.refs.kinship import Kinship
from lochan.refs.tables import RepositoryTables
from measure import Row, best

COUNT = 100_000
LIMIT = 20
ROUNDS = 200
REPOSITORY = Repository(
    repository_id=RepositoryId("bench"),
    storage_namespace=StorageNamespace("memory://bench"),
    default_branch=BranchName("main"),
    creation_date=Instant(0),
    unique_identifier=UniqueIdentifier("00000001"),
)


class Counting:
    """A Store that counts what is read through it."""

    def __init__(self, store: Store) -> None:
        """Stand before a store."""
        self._store = store
        self.reads = 0
        self.set, self.set_if = store.set, store.set_if
        self.delete, self.delete_if = store.delete, store.delete_if
        self.close = store.close

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record."""
        self.reads += 1
        return self._store.get(partition, key)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Count the start and every row after the first."""
        self.reads += 1
        for number, pair in enumerate(self._store.scan(partition, start)):
            self.reads += number > 0
            yield pair


class History:
    """Commits without content, made as committers make them, without rivals."""

    def __init__(self, store: Store) -> None:
        """Begin with nothing."""
        self.tables = RepositoryTables.of(store, REPOSITORY)
        self.kin = Kinship.of(store, REPOSITORY)
        self.branches: dict[str, Branch] = {}
        self.heads: dict[str, Commit] = {}
        self.made = 0

    def fork(self, name: str, source: str) -> None:
        """Make a branch at another's head."""
        self.heads[name] = self.heads[source]
        self.branches.pop(name, None)

    def commit(self, name: str, source: str = "") -> Commit:
        """Commit to a branch, or merge another into it."""
        head, other = self.heads.get(name), self.heads.get(source)
        fresh = Branch(
            branch_id=BranchName(name), commit_id=CommitId(""), staging_token=StagingToken("")
        )
        branch = self.branches.get(name, fresh)
        self.made += 1
        position = next_clock(head, branch, LineageId(f"{self.made:032x}"))
        parents = [parent for parent in (head, other) if parent]
        commit = new_commit(
            committer="",
            message=str(self.made),
            creation_date=Instant(self.made),
            meta_range_id=EMPTY_TREE,
            clocks=position.clocks,
            parents=tuple(parent.id for parent in parents),
            generation=1 + max((parent.generation for parent in parents), default=0),
        )
        self.tables.commits.set(commit.id.encode(), commit)
        self.kin.reach.write(commit)
        self.kin.reach.clocks.place(commit)
        self.heads[name] = commit
        self.branches[name] = msgspec.structs.replace(
            branch, commit_id=commit.id, lineage=position.lineage, ordinals=position.ordinals
        )
        return commit


def grown(store: Store, count: int = COUNT) -> History:
    """Make the history: a long main with short branches, and the two that part in its middle."""
    history = History(store)
    history.commit("main")
    while history.made < count // 2:
        _ten(history, "main")
    for name in ("side", "p", "q", "r"):
        history.fork(name, "main")
        history.commit(name)
    for number in range(ROUNDS):
        for name in ("main", "side"):
            history.commit(name)
            if number % (ROUNDS // 10) == 0:
                for other in "pqr":
                    history.commit(other)
                    history.commit(name, other)
    history.fork("elsewhere", "main")
    while history.made < count:
        _ten(history, "elsewhere")
    return history


def _ten(history: History, name: str) -> None:
    for _ in range(8):
        history.commit(name)
    history.fork("short", name)
    history.commit("short")
    history.commit(name, "short")


def walked(history: History, one: Commit, other: Commit) -> CommitId | None:
    """Find a common ancestor by reading commits from both sides, greatest generation first."""
    sides = {one.id: 1}
    sides[other.id] = sides.get(other.id, 0) | 2
    queue = [(-one.generation, one.id), (-other.generation, other.id)]
    heapq.heapify(queue)
    while queue:
        _, found = heapq.heappop(queue)
        if sides[found] == 3:
            return found
        for parent in history.tables.commits.get(found.encode()).record.parents:
            if parent not in sides:
                generation = history.tables.commits.get(parent.encode()).record.generation
                heapq.heappush(queue, (-generation, parent))
            sides[parent] = sides.get(parent, 0) | sides[found]
    return None


def main() -> list[Row]:
    """Measure both questions."""
    store = open_store("memory://", RealEnvironment())
    history = grown(store)
    one, other = history.heads["main"], history.heads["side"]
    counting = Counting(store)
    counted = Kinship.of(counting, REPOSITORY)
    base = counted.merge_base(one, other)
    assert base is not None
    base_reads, counting.reads = counting.reads, 0
    old = history.heads["p"]
    assert counted.is_ancestor(old, one) != counted.is_ancestor(old, other)
    test_reads = counting.reads
    kin = history.kin
    ours = best(lambda: kin.merge_base(one, other))
    theirs = best(lambda: walked(history, one, other))
    asked = best(lambda: kin.is_ancestor(old, other))
    return [
        Row(
            f"merge base among {COUNT:,} commits",
            f"{base_reads} reads, {ours.wall_s * 1e6:.0f} us",
            f"walking by generation {theirs.wall_s * 1e6:.0f} us",
            theirs.wall_s / ours.wall_s,
            f"<= {LIMIT} reads",
            base_reads <= LIMIT,
        ),
        Row(
            f"two ancestor tests among {COUNT:,} commits",
            f"{test_reads} reads, {asked.wall_s * 1e6:.0f} us each",
            "",
            None,
            f"<= {LIMIT} reads each",
            test_reads <= LIMIT,
        ),
    ]


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(main()).decode())
