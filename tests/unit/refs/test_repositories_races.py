# SPDX-License-Identifier: Apache-2.0
"""Two actors on one name: the second does its whole work before each call of the first."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Conflict, NotUnique, RepositoryDeleting, RepositoryNotFound
from lochan.kv.faulty import Faulty
from lochan.kv.open import open_store
from lochan.kv.store import Store
from lochan.model.codec import encode_repository
from lochan.model.ids import BranchName, CommitId
from lochan.model.keys import CLEANUP, DELETED, GRAVELER, partition_of
from lochan.model.records import Repository
from lochan.refs.cleaner import Cleaner
from lochan.refs.creation import create_bare_repository, create_repository
from lochan.refs.deletion import delete_repository
from lochan.refs.repositories import get_repository
from lochan.refs.tables import RepositoryTables
from support.repository_life import (
    MAIN,
    NAME,
    NAMESPACE,
    World,
    add_branch,
    at,
    every_call,
    fill,
    outcome,
)


def test_rel_R1_of_two_racing_creators_exactly_one_wins() -> None:
    def run(number: int) -> Faulty:
        world = World()
        others: list[object] = []
        faulty = world.failing(at(number, lambda: others.append(outcome(world.create))))
        results = [outcome(lambda: world.create(through=faulty)), *others]
        winners = [result for result in results if isinstance(result, Repository)]
        losers = [result for result in results if isinstance(result, NotUnique)]
        assert len(winners) == 1
        assert len(losers) == len(results) - 1
        assert world.assert_whole() == winners[0]
        world.clean_up()
        world.assert_nothing_but(winners[0])
        return faulty

    assert every_call(run) >= 6


def test_rel_R1_of_a_bare_creator_and_another_exactly_one_wins() -> None:
    def run(number: int) -> Faulty:
        world = World()
        others: list[object] = []
        faulty = world.failing(at(number, lambda: others.append(outcome(world.create))))
        mine = outcome(lambda: create_bare_repository(faulty, world.clock, NAME, NAMESPACE, MAIN))
        results = [mine, *others]
        winners = [result for result in results if isinstance(result, Repository)]
        assert winners == [world.get()]
        return faulty

    assert every_call(run) == 1


def test_rel_R2_nobody_sees_a_creation_before_it_is_whole() -> None:
    def run(number: int) -> Faulty:
        world = World()
        seen: list[object] = []
        faulty = world.failing(at(number, lambda: seen.append(outcome(world.get))))
        created = world.create(through=faulty)
        assert all(isinstance(found, RepositoryNotFound) for found in seen)
        assert world.assert_whole() == created
        return faulty

    assert every_call(run) >= 6


def give_up(world: World) -> None:
    """Read the name two minutes later."""
    world.clock.sleep(120)
    outcome(world.get)


def give_up_and_clean(world: World) -> None:
    give_up(world)
    world.clean_up()


def give_up_and_create(world: World) -> None:
    world.clock.sleep(120)
    outcome(world.create)


@pytest.mark.parametrize("meanwhile", [give_up, give_up_and_clean, give_up_and_create])
def test_rel_R13_a_slow_creator_gets_an_error_never_a_half_deleted_repository(
    meanwhile: Callable[[World], None],
) -> None:
    def run(number: int) -> Faulty:
        world = World()
        faulty = world.failing(at(number, lambda: meanwhile(world)))
        result = outcome(lambda: world.create(through=faulty))
        if isinstance(result, Conflict):
            assert result.code == "creation-abandoned"
        elif not isinstance(result, NotUnique):
            # It had claimed the name late, or was done.
            assert isinstance(result, Repository)
            assert result == world.assert_whole()
        assert_consistent(world)
        return faulty

    assert every_call(run) >= 6


def test_rel_R13_every_step_may_come_too_late() -> None:
    abandoned = 0

    def run(number: int) -> Faulty:
        nonlocal abandoned
        world = World()
        faulty = world.failing(at(number, lambda: give_up(world)))
        result = outcome(lambda: world.create(through=faulty))
        if isinstance(result, Conflict) and result.code == "creation-abandoned":
            abandoned += 1
            assert isinstance(outcome(world.get), RepositoryNotFound)
        return faulty

    # The claim, commit, clock row, branch, read and swap: the claim is dated before it is made.
    assert every_call(run) == 6
    assert abandoned == 6


def assert_consistent(world: World) -> None:
    """Check that what can be seen is whole, and that cleaning leaves nothing else."""
    found = outcome(world.get)
    living = (world.assert_whole(),) if isinstance(found, Repository) else ()
    assert living or isinstance(found, RepositoryNotFound | RepositoryDeleting)
    world.clean_up()
    world.assert_nothing_but(*living)


@pytest.mark.parametrize("jump_s", [-900.0, -1.0, 119.0, 900.0, 1e9])
def test_rel_R20_a_clock_that_jumps_fails_a_creation_at_worst(jump_s: float) -> None:
    def run(number: int) -> Faulty:
        world = World()
        faulty = world.failing(at(number, lambda: world.clock.sleep(jump_s)))
        result = outcome(lambda: world.create(through=faulty))
        assert isinstance(result, Repository | Conflict)
        assert_consistent(world)
        outcome(world.delete)
        world.create()
        assert_consistent(world)
        return faulty

    assert every_call(run) >= 6


@pytest.mark.parametrize("skew_s", [-900.0, 900.0])
def test_rel_R20_a_reader_with_a_wrong_clock_fails_a_creation_at_worst(skew_s: float) -> None:
    def run(number: int) -> Faulty:
        world = World()

        def read_with_a_wrong_clock() -> None:
            world.clock.sleep(skew_s)
            outcome(world.get)
            world.cleaner().run()
            world.clock.sleep(-skew_s)

        faulty = world.failing(at(number, read_with_a_wrong_clock))
        result = outcome(lambda: world.create(through=faulty))
        assert isinstance(result, Repository | Conflict)
        if skew_s < 0:
            assert isinstance(result, Repository)
        assert_consistent(world)
        return faulty

    assert every_call(run) >= 6


def test_rel_R20_a_creation_dated_in_the_future_is_given_up_when_its_time_has_come() -> None:
    world = World()
    world.clock.sleep(900)
    world.abandon()
    world.clock.sleep(-900)
    assert isinstance(outcome(world.get), RepositoryNotFound)
    assert isinstance(outcome(world.create), NotUnique)
    world.clock.sleep(900 + 120)
    assert isinstance(outcome(world.get), RepositoryDeleting)


def test_rel_R16_a_late_deleter_leaves_the_next_incarnation_alone() -> None:
    def run(number: int) -> Faulty:
        world = World()
        old = world.create()
        fill(world, old)

        def delete_and_create() -> None:
            world.delete()
            fill(world, world.create())

        faulty = world.failing(at(number, delete_and_create))
        outcome(lambda: world.delete(through=faulty))
        if 1 < number <= faulty.calls:
            new = world.assert_whole()
            assert new.unique_identifier != old.unique_identifier
            assert RepositoryTables.of(world.store, new).tags.find(b"v1")
        assert_consistent(world)
        return faulty

    assert every_call(run) >= 4


def test_rel_R16_a_late_cleaner_leaves_the_next_incarnation_alone() -> None:
    def run(number: int) -> Faulty:
        world = World()
        fill(world, world.create())
        world.half_delete()
        faulty = world.failing(at(number, lambda: fill(world, world.create())))
        world.cleaner(through=faulty).run()
        if number > faulty.calls:
            fill(world, world.create())
        new = world.assert_whole()
        before = world.partitions()[partition_of(new)]
        world.clean_up()
        assert world.partitions()[partition_of(new)] == before
        world.assert_nothing_but(new)
        return faulty

    assert every_call(run) >= 20


def test_rel_R16_a_creator_that_helps_late_leaves_the_next_incarnation_alone() -> None:
    def run(number: int) -> Faulty:
        world = World()
        world.abandon()
        world.clock.sleep(120)
        others: list[object] = []
        faulty = world.failing(at(number, lambda: others.append(outcome(world.create))))
        results = [outcome(lambda: world.create(through=faulty)), *others]
        winners = [result for result in results if isinstance(result, Repository)]
        assert winners == [world.assert_whole()]
        assert_consistent(world)
        return faulty

    assert every_call(run) >= 10


def test_rel_R5_two_deleters_at_once_both_succeed_or_find_nothing() -> None:
    def run(number: int) -> Faulty:
        world = World()
        fill(world, world.create())
        others: list[object] = []
        faulty = world.failing(at(number, lambda: others.append(outcome(world.delete))))
        results = [outcome(lambda: world.delete(through=faulty)), *others]
        assert all(isinstance(found, RepositoryNotFound | None) for found in results)
        assert None in results
        assert world.record() is None
        assert_consistent(world)
        return faulty

    assert every_call(run) >= 4


def test_rel_R5_a_change_of_the_record_does_not_stop_a_deleter() -> None:
    world = World()
    created = world.create()

    def make_read_only() -> None:
        stored = world.record()
        assert stored == created
        changed = msgspec.structs.replace(created, read_only=True)
        world.store.set(b"graveler", b"repos/lake", encode_repository(changed))

    world.delete(through=world.failing(at(2, make_read_only)))
    assert world.record() is None


def test_rel_R9_a_branch_made_while_its_repository_goes_is_never_reached() -> None:
    def run(number: int) -> Faulty:
        world = World()
        held = world.create()

        def make_branch() -> None:
            add_branch(world, held, BranchName("late"), CommitId("ab" * 32))

        faulty = world.failing(at(number, make_branch))
        world.delete(through=faulty)
        world.cleaner(through=faulty).run()
        if number > faulty.calls:
            make_branch()
        new = world.create()
        assert RepositoryTables.of(world.store, new).branches.find(b"late") is None
        world.clean_up()
        world.assert_nothing_but(world.assert_whole())
        return faulty

    assert every_call(run) >= 20


def test_rel_R15_two_cleaners_at_once_are_safe() -> None:
    def run(number: int) -> Faulty:
        world = World()
        fill(world, world.create())
        world.delete()
        world.abandon()
        world.clock.sleep(120)
        faulty = world.failing(at(number, lambda: world.cleaner().run()))
        assert world.cleaner(through=faulty).run().skipped == ()
        world.clean_up()
        world.assert_nothing_but()
        return faulty

    assert every_call(run) >= 40


def test_rel_R15_two_cleaners_at_their_second_sweep_are_safe() -> None:
    def run(number: int) -> Faulty:
        world = World()
        fill(world, world.create())
        world.delete()
        world.cleaner().run()
        world.clock.sleep(600)
        faulty = world.failing(at(number, lambda: world.cleaner().run()))
        assert world.cleaner(through=faulty).run().skipped == ()
        world.assert_nothing_but()
        return faulty

    assert every_call(run) >= 20


def test_a_reader_never_gives_up_a_creation_that_has_ended() -> None:
    def run(number: int) -> Faulty:
        world = World()
        world.abandon()
        world.clock.sleep(120)
        faulty = world.failing(at(number, world.create))
        result = outcome(lambda: get_repository(faulty, world.clock, NAME))
        assert isinstance(result, Repository | RepositoryNotFound | RepositoryDeleting)
        if number <= faulty.calls:
            assert world.assert_whole()
        return faulty

    assert every_call(run) >= 2


@pytest.fixture(params=["memory", "sqlite"])
def real_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    urls = {"memory": "memory://", "sqlite": f"sqlite://{tmp_path}/kv.db"}
    store = open_store(urls[request.param], RealEnvironment())
    yield store
    store.close()


def test_rel_R1_threads_that_create_delete_and_clean_at_once_agree_in_the_end(
    real_store: Store,
) -> None:
    environment = RealEnvironment()
    deleted: list[Repository] = []

    def live(_: int) -> int:
        wins = 0
        for _ in range(8):
            mine = outcome(
                lambda: create_repository(real_store, environment, NAME, NAMESPACE, MAIN)
            )
            if isinstance(mine, Repository):
                wins += 1
                assert get_repository(real_store, environment, NAME) == mine
                delete_repository(real_store, environment, NAME)
                deleted.append(mine)
            else:
                assert isinstance(mine, NotUnique)
            assert Cleaner(real_store, environment).run().skipped == ()
        return wins

    with ThreadPoolExecutor(4) as threads:
        wins = sum(threads.map(live, range(4)))
    assert wins == len(deleted) == len({found.unique_identifier for found in deleted})
    for _ in range(2):
        Cleaner(real_store, environment, grace_s=0).run()
    for partition in (GRAVELER, DELETED, CLEANUP, *map(partition_of, deleted)):
        assert list(real_store.scan(partition)) == []
