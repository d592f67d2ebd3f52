# SPDX-License-Identifier: Apache-2.0
"""Every call of a creation, a deletion and a cleaning fails: once, or from there on for ever.

After each run another process looks, recovers and cleans. What it may see: nothing, a repository
that is being deleted, or a whole one; never a part, and never anything of an earlier incarnation.
"""

from collections.abc import Callable

import pytest

from lochan.errors import (
    Conflict,
    NotUnique,
    RepositoryDeleting,
    RepositoryNotFound,
    Unavailable,
    UnknownOutcome,
)
from lochan.faults import Crashed, Fault
from lochan.kv.faulty import Call, Faulty, Plan
from lochan.model.ids import RepositoryId
from lochan.model.records import Repository
from lochan.refs.creation import create_bare_repository, is_bare
from lochan.refs.repositories import get_repository
from lochan.refs.tables import RepositoryTables
from support.repository_life import (
    FAILURES,
    MAIN,
    NAME,
    NAMESPACE,
    OTHER,
    World,
    every_call,
    fill,
    outcome,
)

Failure = Callable[[int], Plan]
THIRD = RepositoryId("sea")


@pytest.fixture(params=list(FAILURES.values()), ids=list(FAILURES))
def failure(request: pytest.FixtureRequest) -> Failure:
    found: Failure = request.param
    return found


def with_nothing() -> World:
    return World()


def with_abandoned_creation() -> World:
    world = World()
    world.abandon()
    world.clock.sleep(120)
    return world


def with_repository() -> World:
    world = World()
    fill(world, world.create())
    return world


def with_half_done_deletion() -> World:
    world = with_repository()
    world.half_delete()
    return world


def with_all_kinds() -> World:
    """Make a dead incarnation with all that may belong to one, a dying, an abandoned, a living."""
    world = with_repository()
    world.delete()
    world.create(OTHER)
    world.half_delete(OTHER)
    world.abandon()
    world.clock.sleep(120)
    fill(world, world.create(THIRD))
    return world


def seen(world: World) -> Repository | type[BaseException]:
    """Give what another process sees: a repository, which is whole, or the error."""
    found = outcome(world.get)
    if isinstance(found, Repository):
        return world.assert_whole()
    assert isinstance(found, RepositoryNotFound | RepositoryDeleting)
    return type(found)


def assert_name_is_usable(world: World, *not_these: Repository | None) -> None:
    """Create the name as anybody would, and clean up: only the new incarnation is left."""
    created = world.create()
    assert created == world.assert_whole()
    tables = RepositoryTables.of(world.store, created)
    assert [name for name, _ in tables.branches.scan()] == [MAIN.encode()]
    assert list(tables.tags.scan()) == []
    assert len(list(tables.commits.scan())) == 1
    for old in not_these:
        assert old is None or old.unique_identifier != created.unique_identifier
    world.clean_up()
    world.assert_nothing_but(world.assert_whole())


@pytest.mark.parametrize("make", [with_nothing, with_abandoned_creation, with_half_done_deletion])
def test_rel_R3_a_creation_that_fails_anywhere_leaves_nothing_or_a_whole_repository(
    make: Callable[[], World], failure: Failure
) -> None:
    def run(number: int) -> Faulty:
        world = make()
        faulty = world.failing(failure(number))
        result = outcome(lambda: world.create(through=faulty))
        found = seen(world)
        if isinstance(result, Repository):
            assert found == result
        else:
            assert isinstance(result, Unavailable | Crashed)
        if isinstance(result, Unavailable) and not isinstance(result, UnknownOutcome):
            assert not isinstance(found, Repository)
        if isinstance(found, Repository):
            assert isinstance(outcome(world.create), NotUnique)
            world.delete()
        world.clock.sleep(120)
        assert_name_is_usable(world, found if isinstance(found, Repository) else None)
        return faulty

    assert every_call(run) >= 6


def lose_write(number: int, fault: Fault) -> Plan:
    """Lose the request or the answer of the n-th call, if it is a write."""

    def plan(call: Call) -> Fault:
        write = call.operation in {"set", "set_if", "delete", "delete_if"}
        return fault if write and call.number == number else Fault.OK

    return plan


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
@pytest.mark.parametrize("make", [with_nothing, with_abandoned_creation, with_half_done_deletion])
def test_rel_R10_a_creation_finds_out_what_became_of_a_lost_write(
    make: Callable[[], World], fault: Fault
) -> None:
    def run(number: int) -> Faulty:
        world = make()
        faulty = world.failing(lose_write(number, fault))
        assert world.create(through=faulty) == world.assert_whole()
        return faulty

    assert every_call(run) >= 6


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
def test_rel_R5_a_deletion_finds_out_what_became_of_a_lost_write(fault: Fault) -> None:
    def run(number: int) -> Faulty:
        world = with_repository()
        faulty = world.failing(lose_write(number, fault))
        world.delete(through=faulty)
        assert world.record() is None
        return faulty

    assert every_call(run) >= 4


@pytest.mark.parametrize("make", [with_repository, with_half_done_deletion])
def test_rel_R6_a_deletion_that_fails_anywhere_leaves_it_whole_deleting_or_gone(
    make: Callable[[], World], failure: Failure
) -> None:
    def run(number: int) -> Faulty:
        world = make()
        before = world.record()
        faulty = world.failing(failure(number))
        result = outcome(lambda: world.delete(through=faulty))
        found = seen(world)
        if result is None:
            assert found is RepositoryNotFound
        else:
            assert isinstance(result, Unavailable | Crashed)
        if make is with_half_done_deletion:
            assert not isinstance(found, Repository)
        elif isinstance(result, Unavailable) and not isinstance(result, UnknownOutcome):
            assert found == before
        again = outcome(world.delete)
        assert again is None or isinstance(again, RepositoryNotFound)
        assert seen(world) is RepositoryNotFound
        assert_name_is_usable(world, before)
        return faulty

    assert every_call(run) >= 3


def test_rel_R14_a_creation_frees_the_name_of_a_deletion_that_failed_after_its_mark(
    failure: Failure,
) -> None:
    def run(number: int) -> Faulty:
        world = with_repository()
        before = world.record()
        faulty = world.failing(failure(number))
        outcome(lambda: world.delete(through=faulty))
        if isinstance(seen(world), Repository):
            world.delete()
        assert_name_is_usable(world, before)
        return faulty

    assert every_call(run) >= 4


def of_living(world: World, living: Repository) -> dict[bytes, dict[bytes, bytes]]:
    """Give all keys of a repository, its staged rows too; each name has tokens of its own."""
    prefix = f"{living.repository_id}-".encode()
    return {name: rows for name, rows in world.partitions().items() if name.startswith(prefix)}


def test_rel_R15_a_cleaner_that_fails_anywhere_is_finished_by_the_next(failure: Failure) -> None:
    def run(number: int) -> Faulty:
        world = with_all_kinds()
        living = world.assert_whole(THIRD)
        belongs = of_living(world, living)
        faulty = world.failing(failure(number))
        result = outcome(lambda: world.cleaner(through=faulty).run())
        assert not isinstance(result, Unavailable | Conflict)
        assert of_living(world, living) == belongs
        world.clean_up()
        world.assert_nothing_but(living)
        assert of_living(world, living) == belongs
        world.create()
        world.assert_whole()
        return faulty

    assert every_call(run) >= 60


def test_rel_R15_the_second_sweep_that_fails_anywhere_is_finished_by_the_next(
    failure: Failure,
) -> None:
    def run(number: int) -> Faulty:
        world = with_all_kinds()
        living = world.assert_whole(THIRD)
        world.cleaner().run()
        world.clock.sleep(600)
        faulty = world.failing(failure(number))
        outcome(lambda: world.cleaner(through=faulty).run())
        world.clean_up()
        world.assert_nothing_but(living)
        return faulty

    assert every_call(run) >= 60


def test_rel_R12_giving_up_a_creation_may_fail_anywhere(failure: Failure) -> None:
    def run(number: int) -> Faulty:
        world = with_abandoned_creation()
        faulty = world.failing(failure(number))
        result = outcome(lambda: get_repository(faulty, world.clock, NAME))
        assert isinstance(result, RepositoryDeleting | Unavailable | Conflict | Crashed)
        assert seen(world) is RepositoryDeleting
        assert_name_is_usable(world)
        return faulty

    assert every_call(run) >= 2


def test_rel_R19_a_bare_creation_that_fails_anywhere_leaves_nothing_or_a_bare_repository(
    failure: Failure,
) -> None:
    def run(number: int) -> Faulty:
        world = with_half_done_deletion()
        faulty = world.failing(failure(number))
        result = outcome(lambda: create_bare_repository(faulty, world.clock, NAME, NAMESPACE, MAIN))
        found = outcome(world.get)
        if isinstance(found, Repository):
            assert is_bare(world.store, found)
            assert result == found or isinstance(result, UnknownOutcome | Crashed)
            world.delete()
        else:
            assert isinstance(result, Unavailable | Crashed)
        assert_name_is_usable(world)
        return faulty

    assert every_call(run) >= 4
