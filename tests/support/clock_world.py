# SPDX-License-Identifier: Apache-2.0
"""A repository of commits without content, made by the real protocol, beside a naive model of it.

`World.commit` does what every committer does: record, reach rows, compare-and-swap, clock row. The
model is a set of ancestors a commit, as bits of a number. `Counting` counts what is read: each get,
and of each scan its start and every row after the first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from lochan.environment import RealEnvironment
from lochan.errors import PredicateFailed
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Pair, Present, Store, Versioned
from lochan.model.clock import leave_line, next_clock
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
from lochan.refs.clock_index import ClockIndex
from lochan.refs.kinship import Kinship
from lochan.refs.reach import ReachIndex
from lochan.refs.tables import RepositoryTables

ENVIRONMENT = RealEnvironment()
REPOSITORY = Repository(
    repository_id=RepositoryId("data"),
    storage_namespace=StorageNamespace("memory://data"),
    default_branch=BranchName("main"),
    creation_date=Instant(0),
    unique_identifier=UniqueIdentifier("1"),
)


class Counting:
    """A Store that counts reads on their way to another."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.keys: list[bytes] = []

    @property
    def reads(self) -> int:
        return len(self.keys)

    def get(self, partition: bytes, key: bytes) -> Versioned:
        self.keys.append(key)
        return self._store.get(partition, key)

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        self._store.set(partition, key, value)

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        self._store.set_if(partition, key, value, predicate)

    def delete(self, partition: bytes, key: bytes) -> None:
        self._store.delete(partition, key)

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        self._store.delete_if(partition, key, predicate)

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        self.keys.append(start)
        for number, pair in enumerate(self._store.scan(partition, start)):
            if number:
                self.keys.append(pair[0])
            yield pair

    def close(self) -> None:
        self._store.close()


@dataclass
class World:
    """Branches of one repository over a store; several may stand on the same one."""

    store: Store = field(default_factory=lambda: MemoryStore(ENVIRONMENT))
    drawn: int = 0

    def __post_init__(self) -> None:
        self.tables = RepositoryTables.of(self.store, REPOSITORY)
        self.clocks = ClockIndex.of(self.store, REPOSITORY)
        self.reach = ReachIndex.of(self.store, REPOSITORY)
        self.kin = Kinship.of(self.store, REPOSITORY)

    def create(self, name: str, at: Commit | None = None) -> None:
        branch = Branch(
            branch_id=BranchName(name),
            commit_id=at.id if at else CommitId(""),
            staging_token=StagingToken("t"),
        )
        self.tables.branches.set_if(name.encode(), branch, None)

    def branch(self, name: str) -> Branch:
        return self.tables.branches.get(name.encode()).record

    def head(self, name: str) -> Commit:
        return self.tables.commits.get(self.branch(name).commit_id.encode()).record

    def draft(self, branch: Branch, *sources: Commit, message: str = "") -> tuple[Commit, Branch]:
        """Build a commit on a branch's head, and the branch record that would publish it."""
        named = branch.commit_id.encode()
        head = self.tables.commits.get(named).record if named else None
        self.drawn += 1
        following = next_clock(head, branch, LineageId(f"line{self.drawn}{message}"))
        parents = (*((head,) if head else ()), *sources)
        commit = new_commit(
            committer="c",
            message=message or str(self.drawn),
            creation_date=Instant(self.drawn),
            meta_range_id=EMPTY_TREE,
            clocks=following.clocks,
            parents=tuple(parent.id for parent in parents),
            generation=1 + max((parent.generation for parent in parents), default=0),
        )
        return commit, replace(
            branch,
            commit_id=commit.id,
            lineage=following.lineage,
            ordinals=following.ordinals,
        )

    def commit(self, name: str, *sources: Commit, message: str = "", place: bool = True) -> Commit:
        """Commit, or merge, to a branch; on a lost race remove the rows and raise."""
        stored = self.tables.branches.get(name.encode())
        commit, moved = self.draft(stored.record, *sources, message=message)
        self.tables.commits.set(commit.id.encode(), commit)
        self.reach.write(commit)
        try:
            self.tables.branches.set_if(name.encode(), moved, stored.predicate)
        except PredicateFailed:
            self.reach.forget(commit, self.branch(name))
            raise
        if place:
            self.clocks.place(commit)
        return commit

    def reset(self, name: str, to: Commit) -> None:
        stored = self.tables.branches.get(name.encode())
        head = self.head(name)
        lineage, ordinals = leave_line(head, stored.record)
        self.clocks.place(head)
        moved = replace(stored.record, commit_id=to.id, lineage=lineage, ordinals=ordinals)
        self.tables.branches.set_if(name.encode(), moved, stored.predicate)

    def delete(self, name: str) -> None:
        stored = self.tables.branches.get(name.encode())
        self.clocks.place(self.head(name))
        self.tables.branches.delete_if(name.encode(), stored.predicate)


@dataclass
class Model:
    """The naive truth about a list of commits in the order of their making."""

    commits: list[Commit]

    def __post_init__(self) -> None:
        numbers = {commit.id: number for number, commit in enumerate(self.commits)}
        self.behind: list[int] = []
        for number, commit in enumerate(self.commits):
            bits = 1 << number
            for parent in commit.parents:
                bits |= self.behind[numbers[parent]]
            self.behind.append(bits)

    def has(self, earlier: int, later: int) -> bool:
        """Ancestor or self."""
        return bool(self.behind[later] >> earlier & 1)

    def best_common(self, one: int, other: int) -> set[CommitId]:
        """Common ancestors that no other common ancestor comes after."""
        common = [n for n in range(len(self.commits)) if self.has(n, one) and self.has(n, other)]
        return {
            self.commits[n].id
            for n in common
            if not any(self.has(n, later) for later in common if later != n)
        }

    def difference(self, to: int, since: int) -> set[CommitId]:
        bits = self.behind[to] & ~self.behind[since]
        return {commit.id for n, commit in enumerate(self.commits) if bits >> n & 1}


def act(world: World, commits: list[Commit], kind: str, name: str, chosen: int) -> None:
    """Do one random thing to a branch; `chosen` picks a commit, counted from the newest."""
    known = commits[-1 - chosen % len(commits)]
    exists = world.tables.branches.find(name.encode()) is not None
    if not exists or kind == "fork":
        if not exists:
            world.create(name, known)
        commits.append(world.commit(name))
    elif kind in {"commit", "unplaced"}:
        commits.append(world.commit(name, place=kind == "commit"))
    elif kind == "merge":
        if not world.kin.is_ancestor(known, world.head(name), or_self=True):
            commits.append(world.commit(name, known, place=chosen % 3 > 0))
    elif kind == "reset":
        world.reset(name, known)
    else:
        world.delete(name)
        world.create(name, known)


def check(
    world: World, commits: list[Commit], *, pairs: list[tuple[int, int]] | None = None
) -> None:
    """Compare every answer about every pair with the model."""
    model = Model(commits)
    everybody = range(len(commits))
    for i, j in pairs or [(i, j) for i in everybody for j in everybody]:
        one, other = commits[i], commits[j]
        assert world.kin.is_ancestor(one, other, or_self=True) == model.has(i, j)
        assert world.kin.is_ancestor(one, other) == (model.has(i, j) and i != j)
        base = world.kin.merge_base(one, other)
        best = model.best_common(i, j)
        assert base.id in best if base else not best
        assert base == world.kin.merge_base(other, one)
        assert {each.id for each in world.kin.merge_bases(one, other)} == best
        listed = list(world.kin.ids(world.kin.history(one, other)))
        assert len(listed) == len(set(listed))
        assert set(listed) == model.difference(i, j)
        ahead, behind = world.kin.ahead_behind(one, other)
        assert (ahead, behind) == (len(listed), len(model.difference(j, i)))
