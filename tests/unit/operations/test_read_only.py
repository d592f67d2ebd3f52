# SPDX-License-Identifier: Apache-2.0
"""A read-only repository takes no change but its deletion and the end of being read-only."""

from collections.abc import Callable
from contextlib import suppress
from itertools import count

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, Refused, RepositoryDeleting, RepositoryNotFound
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import BranchName, ObjectKey, TagName
from lochan.model.records import BranchProtectionRule, Commit, RepositoryState
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.protection import set_branch_protection
from lochan.operations.put_object import put_object
from lochan.operations.repositories import change_repository, set_read_only
from lochan.operations.repositories import delete_repository as end
from lochan.operations.reset import reset, reset_object, reset_prefix
from lochan.operations.tags import create_tag, delete_tag
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from lochan.refs.deletion import delete_repository
from lochan.refs.repositories import get_repository, mark_deleting
from lochan.refs.tables import repositories
from support.lakes import MAIN, NAME, Stage, open_stage

DEV, NEW = BranchName("dev"), BranchName("new")
KEY = ObjectKey(b"a")
OLD, FRESH = TagName("old"), TagName("fresh")
EMPTY = TransplantRequest("ada", allow_empty=True)
FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]

Verb = Callable[[Stage, Commit], object]
VERBS: dict[str, Verb] = {
    "put": lambda s, _: put_object(s.lake, s.repository, MAIN, KEY, b"2"),
    "delete": lambda s, _: delete_objects(s.lake, s.repository, MAIN, [KEY]),
    "reset": lambda s, _: reset(s.lake, s.repository, MAIN),
    "reset prefix": lambda s, _: reset_prefix(s.lake, s.repository, MAIN, b""),
    "reset object": lambda s, _: reset_object(s.lake, s.repository, MAIN, KEY),
    "commit": lambda s, _: commit(
        s.lake, s.repository, MAIN, CommitRequest("ada", allow_empty=True)
    ),
    "merge": lambda s, theirs: merge(
        s.lake, s.repository, MAIN, theirs, MergeRequest("ada", allow_empty=True)
    ),
    "revert": lambda s, theirs: revert(s.lake, s.repository, MAIN, theirs, EMPTY),
    "cherry-pick": lambda s, theirs: cherry_pick(s.lake, s.repository, MAIN, theirs, EMPTY),
    "hard reset": lambda s, theirs: hard_reset(s.lake, s.repository, MAIN, theirs),
    "create branch": lambda s, theirs: create_branch(s.lake, s.repository, NEW, theirs.id),
    "delete branch": lambda s, _: delete_branch(s.lake, s.repository, DEV),
    "create tag": lambda s, theirs: create_tag(s.lake, s.repository, FRESH, theirs),
    "delete tag": lambda s, _: delete_tag(s.lake, s.repository, OLD),
    "protect": lambda s, _: set_branch_protection(
        s.lake, s.repository, [BranchProtectionRule("*")]
    ),
}


def prepared() -> tuple[Stage, Commit]:
    """Open a lake with a branch, a tag and a commit of each branch."""
    stage = open_stage()
    root = stage.lake.branches.fresh(stage.repository, MAIN).record.commit_id
    create_branch(stage.lake, stage.repository, DEV, root)
    put_object(stage.lake, stage.repository, DEV, KEY, b"1")
    theirs = commit(stage.lake, stage.repository, DEV, CommitRequest("ada", "one"))
    create_tag(stage.lake, stage.repository, OLD, theirs)
    return stage, theirs


def everything(stage: Stage) -> list[object]:
    """Give what the store holds about names; a failed write may stay staged (G5)."""
    tables = stage.lake.tables(stage.repository)
    found = [*tables.branches.scan(), *tables.tags.scan()]
    return [*found, repositories(stage.lake.store).get(NAME.encode()).record]


@pytest.mark.parametrize("verb", VERBS)
def test_a_read_only_repository_refuses_every_change(verb: str) -> None:
    stage, theirs = prepared()
    set_read_only(stage.lake, stage.repository, read_only=True)
    before = everything(stage)
    with pytest.raises(Refused, match="'readings' is read-only") as told:
        VERBS[verb](stage, theirs)
    assert (told.value.code, told.value.status) == ("read-only-repository", 403)
    assert everything(stage) == before


@pytest.mark.parametrize("verb", VERBS)
def test_a_caller_who_insists_changes_a_read_only_repository(verb: str) -> None:
    stage, theirs = prepared()
    set_read_only(stage.lake, stage.repository, read_only=True)
    VERBS[verb](Stage(stage.lake.forcing(), stage.repository, stage.storage), theirs)


def test_what_was_made_writable_takes_changes_again() -> None:
    stage, theirs = prepared()
    assert set_read_only(stage.lake, stage.repository, read_only=True).read_only
    set_read_only(stage.lake, stage.repository, read_only=False)
    for verb in ("put", "reset", "create tag"):
        VERBS[verb](stage, theirs)


def test_a_read_only_repository_can_be_deleted() -> None:
    stage, _ = prepared()
    set_read_only(stage.lake, stage.repository, read_only=True)
    delete_repository(stage.lake.store, stage.lake.environment, NAME)
    with pytest.raises(RepositoryNotFound):
        set_read_only(stage.lake, stage.repository, read_only=False)


def test_rel_R17_a_repository_that_is_being_deleted_is_not_changed() -> None:
    stage, _ = prepared()
    table = repositories(stage.lake.store)
    mark_deleting(table, table.get(NAME.encode()))
    with pytest.raises(RepositoryDeleting):
        set_read_only(stage.lake, stage.repository, read_only=True)
    assert table.get(NAME.encode()).record.repository_state is RepositoryState.DELETING


def test_rel_H14_another_server_hears_of_the_flag_at_once() -> None:
    stage, theirs = prepared()
    there = Stage(
        Lake.of(stage.lake.store, stage.lake.environment, stage.lake.storage),
        stage.repository,
        stage.storage,
    )
    VERBS["put"](there, theirs)
    set_read_only(stage.lake, stage.repository, read_only=True)
    with pytest.raises(Refused):
        VERBS["put"](there, theirs)
    set_read_only(stage.lake, stage.repository, read_only=False)
    VERBS["put"](there, theirs)


def test_a_change_of_one_thing_keeps_what_somebody_else_changed() -> None:
    stage, _ = prepared()
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
    stage, _ = prepared()
    held = set_read_only(stage.lake, stage.repository, read_only=True)
    with pytest.raises(Refused, match="read-only"):
        end(stage.lake, held)
    end(stage.lake.forcing(), held)
    with pytest.raises(RepositoryNotFound):
        end(stage.lake, held)
