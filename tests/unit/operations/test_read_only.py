# SPDX-License-Identifier: Apache-2.0
"""A read-only repository takes no change but its deletion and the end of being read-only."""

from contextlib import suppress
from itertools import count

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, Refused, RepositoryDeleting, RepositoryNotFound
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import StagingToken
from lochan.model.keys import COPIES, partition_of, token_partition
from lochan.model.records import BranchProtectionRule, RepositoryState
from lochan.operations.lake import Lake
from lochan.operations.protection import set_branch_protection
from lochan.operations.repositories import change_repository, set_read_only
from lochan.operations.repositories import delete_repository as end
from lochan.refs.deletion import delete_repository
from lochan.refs.partitions import names_of
from lochan.refs.repositories import get_repository, mark_deleting
from lochan.refs.tables import repositories
from support.every_change import EVERY, prepared, prepared_for
from support.kv_copies import Rows, every_row
from support.lakes import NAME, Stage, open_stage

FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


def everything(stage: Stage) -> Rows:
    """Give all that the store shows: a failed write may stay staged (G5), and in the copy log."""
    staged = {token_partition(token) for token in tokens(stage)}
    return {
        (name, key): value
        for (name, key), value in every_row(stage.lake.store).items()
        if name not in staged and not key.startswith(COPIES)
    }


def tokens(stage: Stage) -> tuple[StagingToken, ...]:
    partition = partition_of(stage.repository)
    return tuple(names_of(stage.lake.store, partition).tokens)


@pytest.mark.parametrize("verb", EVERY)
def test_a_read_only_repository_refuses_every_change(verb: str) -> None:
    ground = prepared()
    set_read_only(*ground.where, read_only=True)
    before = everything(ground.stage)
    with pytest.raises(Refused, match="'readings' is read-only") as told:
        EVERY[verb](ground)
    assert (told.value.code, told.value.status) == ("read-only-repository", 403)
    assert everything(ground.stage) == before


@pytest.mark.parametrize("verb", EVERY)
def test_a_caller_who_insists_changes_a_read_only_repository(verb: str) -> None:
    ground = prepared_for(verb)
    set_read_only(*ground.where, read_only=True)
    before = every_row(ground.stage.lake.store)
    EVERY[verb](ground.over(ground.stage.lake.forcing()))
    assert every_row(ground.stage.lake.store) != before


def test_what_was_made_writable_takes_changes_again() -> None:
    ground = prepared()
    assert set_read_only(*ground.where, read_only=True).read_only
    set_read_only(*ground.where, read_only=False)
    for verb in ("put", "reset", "create tag"):
        EVERY[verb](ground)


def test_a_read_only_repository_can_be_deleted() -> None:
    stage = prepared().stage
    set_read_only(stage.lake, stage.repository, read_only=True)
    delete_repository(stage.lake.store, stage.lake.environment, NAME)
    with pytest.raises(RepositoryNotFound):
        set_read_only(stage.lake, stage.repository, read_only=False)


def test_rel_R17_a_repository_that_is_being_deleted_is_not_changed() -> None:
    stage = prepared().stage
    table = repositories(stage.lake.store)
    mark_deleting(table, table.get(NAME.encode()))
    with pytest.raises(RepositoryDeleting):
        set_read_only(stage.lake, stage.repository, read_only=True)
    assert table.get(NAME.encode()).record.repository_state is RepositoryState.DELETING


def test_rel_H14_another_server_hears_of_the_flag_at_once() -> None:
    ground = prepared()
    stage = ground.stage
    there = ground.over(Lake.of(stage.lake.store, stage.lake.environment, stage.lake.storage))
    EVERY["put"](there)
    set_read_only(stage.lake, stage.repository, read_only=True)
    with pytest.raises(Refused):
        EVERY["put"](there)
    set_read_only(stage.lake, stage.repository, read_only=False)
    EVERY["put"](there)


def test_a_change_of_one_thing_keeps_what_somebody_else_changed() -> None:
    stage = prepared().stage
    set_branch_protection(stage.lake, stage.repository, [BranchProtectionRule("dev")])
    set_read_only(stage.lake, stage.repository, read_only=True)
    found = get_repository(stage.lake.store, stage.lake.environment, NAME)
    assert [rule.pattern for rule in found.branch_protection] == ["dev"]
    assert change_repository(stage.lake, stage.repository, lambda record: record) == found


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_a_flag_whose_answer_was_lost_is_set_or_not(fault: Fault) -> None:
    world = RealEnvironment()
    for number in count(1):
        stage = open_stage(MemoryStore(world), world)
        faulty = Faulty(stage.lake.store, fail_nth(number, fault), world)
        lake = Lake.of(faulty, world, stage.lake.storage)
        done = False
        with suppress(LochanError, Crashed):
            set_read_only(lake, stage.repository, read_only=True)
            done = True
        found = get_repository(stage.lake.store, world, NAME).read_only
        assert found == done or (found and fault is Fault.CRASH_AFTER)
        if faulty.calls < number:
            assert done
            return


def test_a_read_only_repository_is_deleted_only_by_who_insists() -> None:
    stage = prepared().stage
    held = set_read_only(stage.lake, stage.repository, read_only=True)
    with pytest.raises(Refused, match="read-only"):
        end(stage.lake, held)
    end(stage.lake.forcing(), held)
    with pytest.raises(RepositoryNotFound):
        end(stage.lake, held)
