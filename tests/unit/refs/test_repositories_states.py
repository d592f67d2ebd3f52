# SPDX-License-Identifier: Apache-2.0
"""What a repository's name answers in each of its states."""

from collections.abc import Callable

import msgspec
import pytest

from lochan.errors import (
    Conflict,
    Corruption,
    NotFound,
    NotUnique,
    RepositoryDeleting,
    RepositoryNotFound,
    Unavailable,
)
from lochan.faults import Fault
from lochan.kv.faulty import Call
from lochan.model.ids import EMPTY_TREE, RepositoryId
from lochan.model.keys import GRAVELER, REPOSITORIES, partition_of
from lochan.model.records import Clock, Ordinal, Repository, RepositoryState
from lochan.refs.creation import create_bare_repository, is_bare
from lochan.refs.repositories import CREATION_S, get_repository, list_repositories
from lochan.refs.tables import RepositoryTables, repositories
from support.repository_life import MAIN, NAME, NAMESPACE, OTHER, World, fill, writes_record


@pytest.fixture
def world() -> World:
    return World()


def test_rel_R1_a_name_is_created_once(world: World) -> None:
    first = world.create()
    with pytest.raises(NotUnique) as caught:
        world.create()
    assert caught.value.facts == {"repository": NAME}
    assert world.assert_whole() == first


def test_rel_R2_an_active_repository_has_its_first_commit_on_its_default_branch(
    world: World,
) -> None:
    repository = world.create()
    tables = RepositoryTables.of(world.store, repository)
    branch = tables.branches.get(MAIN.encode()).record
    commit = tables.commits.get(branch.commit_id.encode()).record
    assert (commit.message, commit.committer) == ("Repository created", "ann")
    assert (commit.meta_range_id, commit.parents, commit.generation) == (EMPTY_TREE, (), 1)
    assert commit.clocks == (Clock(branch.lineage, 0),)
    assert branch.ordinals == (Ordinal(branch.lineage, 0),)
    assert branch.staging_token.startswith("lake-main:")
    assert branch.sealed_tokens == ()
    world.assert_whole()


def test_rel_R4_an_absent_name_is_not_found(world: World) -> None:
    with pytest.raises(RepositoryNotFound):
        world.get()


def test_rel_R4_an_active_repository_is_given(world: World) -> None:
    created = world.create()
    assert created.repository_state is RepositoryState.ACTIVE
    assert world.get() == created


def test_rel_R4_a_deleting_repository_says_so(world: World) -> None:
    world.create()
    world.half_delete()
    with pytest.raises(RepositoryDeleting):
        world.get()


def test_rel_R4_an_error_of_the_store_is_not_absence(world: World) -> None:
    world.create()
    failing = world.failing(lambda _: Fault.ERROR)
    with pytest.raises(Unavailable):
        get_repository(failing, world.clock, NAME)


def test_rel_R5_a_half_done_delete_is_repeated_to_its_end(world: World) -> None:
    world.create()
    world.half_delete()
    world.delete()
    assert world.record() is None
    with pytest.raises(RepositoryNotFound):
        world.delete()


def test_rel_R5_reading_a_deleting_repository_changes_nothing(world: World) -> None:
    world.create()
    world.half_delete()
    before = world.partitions()
    world.clock.sleep(1000)
    with pytest.raises(RepositoryDeleting):
        world.get()
    assert list(list_repositories(world.store)) == []
    assert world.partitions() == before


def test_deleting_what_is_not_there_is_an_error(world: World) -> None:
    with pytest.raises(RepositoryNotFound):
        world.delete()


def test_deleting_a_creation_under_way_finds_nothing(world: World) -> None:
    world.abandon()
    before = world.partitions()
    with pytest.raises(RepositoryNotFound):
        world.delete()
    assert world.partitions() == before


def test_deleting_an_abandoned_creation_frees_its_name(world: World) -> None:
    world.abandon()
    world.clock.sleep(CREATION_S)
    world.delete()
    assert world.record() is None


def make_all_states(world: World) -> list[Repository]:
    active = [world.create(RepositoryId(name)) for name in ("aaa", "ccc", "ddd-1")]
    world.abandon(RepositoryId("bbb"))
    world.create(RepositoryId("ddd"))
    world.half_delete(RepositoryId("ddd"))
    world.create(RepositoryId("eee"))
    world.delete(RepositoryId("eee"))
    return active


def test_rel_R7_the_list_shows_active_repositories_in_order(world: World) -> None:
    active = make_all_states(world)
    assert list(list_repositories(world.store)) == active


@pytest.mark.parametrize(
    ("start", "after", "expected"),
    [
        ("ccc", "", [1, 2]),
        ("bbb", "", [1, 2]),
        ("", "ccc", [2]),
        ("", "bbb", [1, 2]),
        ("aaa", "ccc", [2]),
        ("ddd-1", "aaa", [2]),
        ("ddd-2", "", []),
    ],
)
def test_rel_R7_the_list_goes_on_from_any_name(
    start: str, after: str, expected: list[int], world: World
) -> None:
    active = make_all_states(world)
    found = list(list_repositories(world.store, start=start, after=after))
    assert found == [active[number] for number in expected]


def test_the_list_stops_at_the_end_of_its_prefix(world: World) -> None:
    created = world.create()
    world.store.set(GRAVELER, b"settings/x", b"not a repository")
    world.store.set(GRAVELER, b"a", b"not a repository")
    assert list(list_repositories(world.store)) == [created]


def test_the_list_raises_when_the_store_fails_midway(world: World) -> None:
    def fail_at_the_end(call: Call) -> Fault:
        last = call.key == REPOSITORIES + OTHER.encode()
        return Fault.ERROR if last else Fault.OK

    world.create()
    world.create(OTHER)
    found = list_repositories(world.failing(fail_at_the_end))
    assert [next(found).repository_id, next(found).repository_id] == [NAME, OTHER]
    with pytest.raises(Unavailable):
        next(found)


def test_the_list_raises_for_a_damaged_record(world: World) -> None:
    world.store.set(GRAVELER, REPOSITORIES + b"lake", b"\xff")
    with pytest.raises(Corruption):
        list(list_repositories(world.store))


def test_rel_R10_the_second_creator_is_refused_while_the_first_is_at_work(world: World) -> None:
    world.abandon()
    before = world.partitions()
    world.clock.sleep(119.999)
    with pytest.raises(NotUnique):
        world.create()
    assert world.partitions() == before


def test_rel_R10_the_second_creator_helps_an_abandoned_creation_away(world: World) -> None:
    world.abandon()
    old = world.record()
    assert old is not None
    world.clock.sleep(120)
    world.create()
    new = world.assert_whole()
    assert new.unique_identifier != old.unique_identifier
    world.clean_up()
    world.assert_nothing_but(new)


def test_rel_R11_a_creation_of_119_999_seconds_is_not_found(world: World) -> None:
    world.abandon()
    before = world.partitions()
    world.clock.sleep(119.999)
    with pytest.raises(RepositoryNotFound):
        world.get()
    assert world.partitions() == before


def test_rel_R12_a_creation_of_120_seconds_is_made_deleting_by_who_reads_it(world: World) -> None:
    world.abandon()
    world.clock.sleep(120)
    for _ in range(2):
        with pytest.raises(RepositoryDeleting):
            world.get()
    found = world.record()
    assert found is not None
    assert found.repository_state is RepositoryState.DELETING


def test_rel_R12_a_reader_loses_to_a_creator_that_comes_first(world: World) -> None:
    def activate() -> None:
        stored = repositories(world.store).get(NAME.encode())
        state = RepositoryState.ACTIVE
        active = msgspec.structs.replace(stored.record, repository_state=state)
        repositories(world.store).set_if(NAME.encode(), active, stored.predicate)

    def plan(call: Call) -> Fault:
        if writes_record(call):
            activate()
        return Fault.OK

    world.abandon()
    world.clock.sleep(120)
    found = get_repository(world.failing(plan), world.clock, NAME)
    assert found == world.assert_whole()


def test_rel_R13_a_creator_that_nobody_saw_being_slow_still_gets_an_error(world: World) -> None:
    def plan(call: Call) -> Fault:
        if call.number == 3:
            world.clock.sleep(120)
        return Fault.OK

    with pytest.raises(Conflict) as caught:
        world.create(through=world.failing(plan))
    assert caught.value.code == "creation-abandoned"
    assert world.record() is None
    world.clean_up()
    world.assert_nothing_but()


def test_rel_R14_a_deleted_name_is_free_at_once_and_several_incarnations_may_wait(
    world: World,
) -> None:
    created = []
    for _ in range(3):
        created.append(world.create())
        fill(world, created[-1])
        world.delete()
    pending = world.partitions()[b"graveler_deleted"]
    assert sorted(pending) == sorted(
        f"repo/lake/{repository.unique_identifier}".encode() for repository in created
    )
    world.create()
    living = world.assert_whole()
    assert list(RepositoryTables.of(world.store, living).tags.scan()) == []
    world.clean_up()
    world.assert_nothing_but(living)


def test_rel_R19_a_bare_repository_is_its_record_alone(world: World) -> None:
    bare = create_bare_repository(world.store, world.clock, NAME, NAMESPACE, MAIN)
    assert world.get() == bare
    assert bare.repository_state is RepositoryState.ACTIVE
    assert set(world.partitions()) == {GRAVELER}
    assert is_bare(world.store, bare)


def test_rel_R19_a_repository_with_any_ref_is_not_bare(world: World) -> None:
    full = world.create()
    assert not is_bare(world.store, full)
    bare = create_bare_repository(world.store, world.clock, OTHER, NAMESPACE, MAIN)
    world.store.set(partition_of(bare), b"tags/v1", b"")
    assert not is_bare(world.store, bare)


def test_rel_R19_a_bare_repository_does_not_take_a_name_in_use(world: World) -> None:
    world.create()
    with pytest.raises(NotUnique):
        create_bare_repository(world.store, world.clock, NAME, NAMESPACE, MAIN)
    world.assert_whole()


@pytest.mark.parametrize("act", [World.get, World.delete], ids=["get", "delete"])
def test_the_error_names_the_repository(act: Callable[[World], object], world: World) -> None:
    with pytest.raises(NotFound) as caught:
        act(world)
    assert caught.value.facts == {"repository": NAME}
