# SPDX-License-Identifier: Apache-2.0
"""Clocks that jump, and servers whose clocks differ by a quarter of an hour (V12).

A wrong clock may fail a creation, refuse a link or shorten the cleaner's time of grace. It never
takes what is named, gives a place in history twice, or brings back what was overwritten.
"""

from functools import partial
from itertools import pairwise

import pytest

from lochan.committed import Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.errors import (
    Conflict,
    InvalidInput,
    NotUnique,
    RepositoryDeleting,
    RepositoryNotFound,
)
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.kv.store import Store
from lochan.model.clock import own
from lochan.model.ids import BranchName, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.keys import GRAVELER, partition_of
from lochan.model.records import Commit, Repository
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake, Storage
from lochan.operations.link_object import LINK_EXPIRY_S, Uploaded, link_object, new_address
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from lochan.refs.cleaner import GRACE_S, Cleaner
from lochan.refs.creation import create_repository
from lochan.refs.kinship import Kinship
from lochan.refs.log import log
from lochan.refs.repositories import get_repository
from lochan.testing.simulation import World
from lochan.testing.simulation.environment import SimulatedEnvironment
from lochan.testing.simulation.solo import SoloEnvironment
from support.branch_content import content
from support.lake_ground import unaccounted
from support.lake_model import e_tag
from support.lakes import MAIN, Stage
from support.repository_life import outcome

NAME = RepositoryId("lake")
NAMESPACE = StorageNamespace("mem://lake")
DEV = BranchName("dev")
A = ObjectKey(b"a")
QUARTER_S = 900.0
SEEDS = 40
SKEWS_S = [-QUARTER_S, -1.0, 0.0, 119.999, 120.0, QUARTER_S]


class Skewed(SoloEnvironment):
    """A server whose wall clock is wrong by so many seconds."""

    def __init__(self, world: SimulatedEnvironment, skew_s: float) -> None:
        super().__init__(world)
        self.skew_s = skew_s

    def now(self) -> float:
        return super().now() + self.skew_s


def create_on(store: Store, clock: Skewed) -> Repository:
    return create_repository(store, clock, NAME, NAMESPACE, MAIN)


class Servers:
    """One store of each kind, and servers over them with clocks of their own."""

    def __init__(self, seed: int = 0) -> None:
        self.world = World(seed)
        self.inner = MemoryStore(RealEnvironment())
        self.store: Store = self.world.store(self.inner)
        self.objects = MemoryObjects(RealEnvironment())

    def clock(self, skew_s: float = 0.0) -> Skewed:
        return Skewed(self.world.environment, skew_s)

    def create(self, clock: Skewed) -> Repository:
        return create_on(self.store, clock)

    def stage(self, repository: Repository, skew_s: float) -> Stage:
        clock = self.clock(skew_s)
        storage = Storage(
            self.objects, AddressSource(clock), Snapshots(Files(self.objects, clock), clock)
        )
        return Stage(Lake.of(self.inner, clock, lambda _: storage), repository, storage)

    def two(self, skew_s: float) -> tuple[Stage, Stage]:
        """Give a server whose clock is right and one whose clock is not."""
        repository = create_on(self.inner, self.clock())
        return self.stage(repository, 0.0), self.stage(repository, skew_s)

    def clean_up(self) -> None:
        """Let a cleaner whose clock is right come now, and after all that anybody could date."""
        for _ in range(3):
            self.world.environment.sleep(GRACE_S + 3 * QUARTER_S)
            assert Cleaner(self.inner, self.clock()).run().skipped == ()


def put(stage: Stage, body: bytes, branch: BranchName = MAIN) -> None:
    put_object(stage.lake, stage.repository, branch, A, body)


def record(stage: Stage, branch: BranchName = MAIN) -> Commit:
    request = CommitRequest("ada", "x", allow_empty=True)
    return commit(stage.lake, stage.repository, branch, request)


class Race(Servers):
    """Two servers create one repository; what else happens is added before it runs."""

    def __init__(self, seed: int, skew_s: float = 0.0) -> None:
        super().__init__(seed)
        self.answers: list[object] = []
        self.wrong = self.clock(skew_s)
        for clock in (self.clock(), self.wrong):
            self.world.spawn(partial(self._create, clock))

    def _create(self, clock: Skewed) -> None:
        self.answers.append(outcome(lambda: self.create(clock)))

    def jump(self, jump_s: float, *, after_steps: int) -> None:
        for _ in range(after_steps):
            self.world.environment.sleep(0)  # somebody else's turn
        self.world.jump(jump_s)

    def check(self) -> int:
        """Run, clean up, and see that one repository is there whole, or none; count it."""
        self.world.run()
        assert len(self.answers) == 2
        assert all(isinstance(each, Repository | NotUnique | Conflict) for each in self.answers)
        created = [each for each in self.answers if isinstance(each, Repository)]
        self.clean_up()
        found = outcome(lambda: get_repository(self.inner, self.clock(), NAME))
        rows = {name for name, part in self.inner._partitions.items() if part.values}
        if not created:
            assert isinstance(found, RepositoryNotFound)
            assert rows == set()
            return 0
        assert [found] == created
        assert rows == {GRAVELER, partition_of(created[0])}
        assert record(self.stage(created[0], 0.0)).generation == 2
        return 1


@pytest.mark.parametrize("skew_s", SKEWS_S)
def test_rel_V12_rel_R20_of_creators_with_different_clocks_one_wins_or_none(skew_s: float) -> None:
    created = 0
    for seed in range(SEEDS):
        race = Race(seed, skew_s)
        race.world.spawn(partial(outcome, partial(get_repository, race.store, race.wrong, NAME)))
        race.world.spawn(Cleaner(race.store, race.wrong).run)
        created += race.check()
    assert created == SEEDS or skew_s >= 120
    assert created > 0


@pytest.mark.parametrize("jump_s", SKEWS_S)
def test_rel_V12_rel_R20_a_jump_while_two_create_fails_them_at_worst(jump_s: float) -> None:
    created = 0
    for seed in range(SEEDS):
        race = Race(seed)
        race.world.spawn(partial(race.jump, jump_s, after_steps=seed % 20))
        created += race.check()
    assert created == SEEDS or jump_s >= 120
    assert created > 0


@pytest.mark.parametrize(
    ("skew_s", "later_s", "is_given_up"),
    [
        (0.0, 119.999, False),
        (0.0, 120.0, True),
        (QUARTER_S, 0.0, True),
        (-QUARTER_S, QUARTER_S + 119.999, False),
        (-QUARTER_S, QUARTER_S + 120.0, True),
    ],
)
def test_rel_V12_rel_R12_two_minutes_are_counted_by_the_clock_of_who_reads(
    skew_s: float, later_s: float, *, is_given_up: bool
) -> None:
    servers = Servers()
    dying = Faulty(servers.inner, fail_nth(4, Fault.CRASH_BEFORE), servers.clock())
    assert isinstance(outcome(lambda: create_on(dying, servers.clock())), Crashed)
    servers.world.environment.sleep(later_s)
    wrong = servers.clock(skew_s)
    said = outcome(lambda: get_repository(servers.inner, wrong, NAME))
    assert isinstance(said, RepositoryDeleting if is_given_up else RepositoryNotFound)
    assert isinstance(outcome(lambda: create_on(servers.inner, wrong)), Repository) == is_given_up


@pytest.mark.parametrize("skew_s", [-QUARTER_S, QUARTER_S])
def test_rel_V12_history_is_that_of_the_swaps_whatever_the_dates(skew_s: float) -> None:
    servers = Servers()
    stages = servers.two(skew_s)
    made = []
    for number in range(6):
        servers.world.jump(-QUARTER_S if number == 3 else 1.0)
        put(stages[number % 2], str(number).encode())
        made.append(record(stages[number % 2]))
    tables = stages[0].lake.tables(stages[0].repository)
    found = list(log(tables, made[-1].id))

    assert [commit.id for commit in found[:-1]] == [commit.id for commit in reversed(made)]
    assert all(earlier.parents == (later.id,) for earlier, later in pairwise(found))
    assert [own(commit).commit for commit in made] == [1, 2, 3, 4, 5, 6]
    assert content(stages[0]) == {b"a": b"5"}


@pytest.mark.parametrize("skew_s", [-QUARTER_S, QUARTER_S])
def test_rel_V12_a_log_has_every_commit_once_and_kinship_knows_no_dates(
    skew_s: float,
) -> None:
    servers = Servers()
    right, wrong = servers.two(skew_s)
    create_branch(right.lake, right.repository, DEV, record(right).id)
    put(wrong, b"dev", DEV)
    theirs = record(wrong, DEV)
    ours = record(right)
    servers.world.jump(-QUARTER_S)
    merged = merge(wrong.lake, wrong.repository, MAIN, theirs, MergeRequest("ada"))
    last = record(right)
    found = [commit.id for commit in log(right.lake.tables(right.repository), last.id)]

    assert len(found) == len(set(found)) == 6
    assert found.index(last.id) < found.index(merged.id) < found.index(ours.id)
    assert found.index(merged.id) < found.index(theirs.id)
    kinship = Kinship.of(servers.inner, right.repository)
    assert kinship.merge_base(last, theirs) == theirs
    assert kinship.ahead_behind(last, theirs) == (3, 0)
    assert content(right) == {b"a": b"dev"}


@pytest.mark.parametrize("skew_s", [-QUARTER_S, QUARTER_S])
def test_rel_V12_the_last_write_stands_though_its_clock_says_it_came_first(skew_s: float) -> None:
    servers = Servers()
    right, wrong = servers.two(skew_s)
    put(right, b"first")
    put(wrong, b"second")
    assert content(right) == {b"a": b"second"}
    servers.world.jump(-2 * QUARTER_S)
    put(right, b"third")
    record(wrong)
    assert content(wrong) == content(right) == {b"a": b"third"}


@pytest.mark.parametrize("skew_s", [-QUARTER_S, QUARTER_S])
def test_rel_V12_a_cleaner_with_a_wrong_clock_wipes_no_token_that_is_named(skew_s: float) -> None:
    servers = Servers()
    right, wrong = servers.two(skew_s)
    for body in (b"1", b"2"):
        put(right, body)
        record(right)
        put(wrong, body + b"staged")
        for clock in (wrong.lake.environment, right.lake.environment):
            assert Cleaner(servers.inner, clock).run().skipped == ()
            servers.world.jump(skew_s)
        assert content(right) == {b"a": body + b"staged"}
    servers.clean_up()
    assert content(wrong) == {b"a": b"2staged"}
    assert unaccounted(servers.inner) == set()


@pytest.mark.parametrize(
    ("skew_s", "later_s", "code"),
    [
        (0.0, LINK_EXPIRY_S, ""),
        (0.0, LINK_EXPIRY_S + 0.002, "link-expired"),
        (QUARTER_S, LINK_EXPIRY_S - QUARTER_S, ""),
        (QUARTER_S, LINK_EXPIRY_S, "link-expired"),
        (-300.0, 0.0, ""),
        (-QUARTER_S, 0.0, "link-invalid"),
        (-QUARTER_S, 600.0, ""),
    ],
)
def test_rel_V12_a_link_is_good_for_a_day_by_the_clock_of_who_links(
    skew_s: float, later_s: float, code: str
) -> None:
    servers = Servers()
    right, wrong = servers.two(skew_s)
    given = new_address(right.lake, right.repository, MAIN, A).address
    right.storage.objects.put(given, b"1")
    servers.world.environment.sleep(later_s)
    uploaded = Uploaded(given, 1, e_tag(b"1"))
    said = outcome(lambda: link_object(wrong.lake, wrong.repository, MAIN, A, uploaded))
    assert (said.code if isinstance(said, InvalidInput) else "") == code
    if not code:
        assert stat_object(right.lake, right.repository, MAIN, A).address == given
