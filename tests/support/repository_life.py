# SPDX-License-Identifier: Apache-2.0
"""A lake of repositories with a clock that tests turn, and faults and races at every call."""

import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from lochan.environment import RealEnvironment
from lochan.errors import LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty, Plan, fail_nth
from lochan.kv.store import Store
from lochan.model.codec import encode_staged_entry
from lochan.model.commit_id import check_commit_id
from lochan.model.ids import (
    BranchName,
    CommitId,
    RepositoryId,
    StagingToken,
    StorageNamespace,
    TagName,
    new_staging_token,
)
from lochan.model.keys import GRAVELER, STAGED, clock_key, partition_of, token_partition
from lochan.model.records import Branch, Repository, RepositoryState, StagedEntry, Tag
from lochan.refs.cleaner import Cleaner
from lochan.refs.creation import create_repository
from lochan.refs.deletion import delete_repository
from lochan.refs.repositories import get_repository
from lochan.refs.tables import RepositoryTables, repositories

NAME = RepositoryId("lake")
OTHER = RepositoryId("pond")
MAIN = BranchName("main")
NAMESPACE = StorageNamespace("mem://bucket/lake")
GRACE_S = 600.0


class TurnedClock(RealEnvironment):
    """A clock that only tests move, and ids that count."""

    def __init__(self) -> None:
        self.time_s = 1_700_000_000.0
        self._ids = itertools.count(1)

    def now(self) -> float:
        return self.time_s

    def monotonic(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds

    def new_id(self) -> str:
        return f"{next(self._ids):032x}"


class World:
    """One store, and what any process can do with it; `through` is a process that may fail."""

    def __init__(self) -> None:
        self.clock = TurnedClock()
        self.store = MemoryStore(self.clock)

    def create(self, name: RepositoryId = NAME, *, through: Store | None = None) -> Repository:
        store = self.store if through is None else through
        return create_repository(store, self.clock, name, NAMESPACE, MAIN, committer="ann")

    def get(self, name: RepositoryId = NAME) -> Repository:
        return get_repository(self.store, self.clock, name)

    def delete(self, name: RepositoryId = NAME, *, through: Store | None = None) -> None:
        delete_repository(self.store if through is None else through, self.clock, name)

    def cleaner(self, *, through: Store | None = None) -> Cleaner:
        store = self.store if through is None else through
        return Cleaner(store, self.clock, grace_s=GRACE_S)

    def record(self, name: RepositoryId = NAME) -> Repository | None:
        stored = repositories(self.store).find(name.encode())
        return stored.record if stored else None

    def abandon(self, name: RepositoryId = NAME) -> None:
        """Let a creator die before its last step."""
        with suppress(Crashed):
            self.create(name, through=self.failing(crash_at_activation))
        found = self.record(name)
        assert found is not None
        assert found.repository_state is RepositoryState.INITIAL

    def half_delete(self, name: RepositoryId = NAME) -> None:
        """Let a deleter die after it marked the record."""
        with suppress(Crashed):
            self.delete(name, through=self.failing(crash_after_mark))
        found = self.record(name)
        assert found is not None
        assert found.repository_state is RepositoryState.DELETING

    def clean_up(self) -> None:
        """Let a fresh cleaner work before and after the time of grace, without any failure."""
        for pause_s in (0.0, GRACE_S, GRACE_S):
            self.clock.sleep(pause_s)
            assert self.cleaner().run().skipped == ()

    def partitions(self) -> dict[bytes, dict[bytes, bytes]]:
        return {name: dict(found.values) for name, found in self.store._partitions.items()}

    def failing(self, plan: Plan) -> Faulty:
        return Faulty(self.store, plan, self.clock)

    def assert_whole(self, name: RepositoryId = NAME) -> Repository:
        """Check that a repository is active with what belongs to a new one (R2)."""
        repository = self.get(name)
        tables = RepositoryTables.of(self.store, repository)
        branch = tables.branches.get(repository.default_branch.encode()).record
        commit = tables.commits.get(branch.commit_id.encode()).record
        check_commit_id(commit)
        clock = commit.clocks[-1]
        row = self.store.get(partition_of(repository), clock_key(clock.branch, clock.commit))
        assert row.value == commit.id.encode()
        return repository

    def assert_nothing_but(self, *living: Repository) -> None:
        """Check that every key of the store belongs to these repositories."""
        kept = {partition_of(repository) for repository in living}
        for repository in living:
            for _, branch in RepositoryTables.of(self.store, repository).branches.scan():
                tokens = (branch.staging_token, *branch.sealed_tokens)
                kept |= {token_partition(token) for token in tokens}
        if living:
            kept.add(GRAVELER)
        assert set(self.partitions()) <= kept
        names = {name for name, _ in repositories(self.store).scan()}
        assert names == {repository.repository_id.encode() for repository in living}


def fill(world: World, repository: Repository) -> None:
    """Give a repository a tag, a second branch, and staged and sealed rows on both."""
    tables = RepositoryTables.of(world.store, repository)
    head = tables.branches.get(MAIN.encode()).record
    tables.tags.set(b"v1", Tag(tag_id=TagName("v1"), commit_id=head.commit_id))
    for name in (MAIN, BranchName("side")):
        add_branch(world, repository, name, head.commit_id)


def add_branch(
    world: World, repository: Repository, name: BranchName, commit_id: CommitId
) -> tuple[StagingToken, ...]:
    tokens = tuple(
        new_staging_token(repository.repository_id, name, world.clock.new_id()) for _ in range(3)
    )
    branch = Branch(
        branch_id=name,
        commit_id=commit_id,
        staging_token=tokens[0],
        sealed_tokens=tokens[1:],
    )
    RepositoryTables.of(world.store, repository).branches.set(name.encode(), branch)
    for token in tokens:
        stage(world, token)
    return tokens


def stage(world: World, token: StagingToken) -> None:
    row = encode_staged_entry(StagedEntry(b"a", b"identity"))
    world.store.set(token_partition(token), STAGED + b"a", row)


def crash_at_activation(call: Call) -> Fault:
    """Die before `initial` becomes `active`."""
    second = writes_record(call) and call.number > 1
    return Fault.CRASH_BEFORE if second else Fault.OK


def crash_after_mark(call: Call) -> Fault:
    """Die when the record is `deleting`."""
    return Fault.CRASH_AFTER if writes_record(call) else Fault.OK


def writes_record(call: Call) -> bool:
    """Say whether a call changes a repository's record, on whatever condition."""
    return call.partition == GRAVELER and call.operation in {"set", "set_if"}


def fail_from(number: int, fault: Fault) -> Plan:
    """Let calls through before the n-th; from then on the store is out of order."""
    return lambda call: fault if call.number >= number else Fault.OK


# Every way to fail at the n-th call: once, and from there on.
FAILURES: dict[str, Callable[[int], Plan]] = {
    f"{fault} {name}": partial(way, fault=fault)
    for fault in Fault
    if fault not in {Fault.OK, Fault.ZOMBIE}
    for name, way in (("once", fail_nth), ("for ever", fail_from))
}


def at(number: int, act: Callable[[], object]) -> Plan:
    """Let another actor do its whole work just before the n-th call."""

    def plan(call: Call) -> Fault:
        if call.number == number:
            act()
        return Fault.OK

    return plan


def every_call(run: Callable[[int], Faulty]) -> int:
    """Run a scenario for n = 1, 2, ... until its n-th call does not exist; count the scenarios."""
    for number in itertools.count(1):
        if run(number).calls < number:
            return number - 1
    raise AssertionError


def outcome(act: Callable[[], object]) -> object:
    """Give what an actor returned, or the error that it met."""
    try:
        return act()
    except (LochanError, Crashed) as error:
        return error
