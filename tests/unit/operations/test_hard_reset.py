# SPDX-License-Identifier: Apache-2.0
"""Hard reset: a branch goes to another commit, and history, clocks and tokens stay in order."""

from contextlib import suppress
from itertools import count

import msgspec
import pytest

from lochan.environment import RealEnvironment
from lochan.errors import Conflict, InvalidInput, LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.kv.store import Store
from lochan.model.clock import own
from lochan.model.ids import CommitId, ObjectKey
from lochan.model.keys import clock_key, partition_of
from lochan.model.records import Branch, Commit
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.operations.seal import seal
from lochan.operations.view import tokens_of
from lochan.refs.clock_index import ClockIndex
from lochan.refs.notes import token_notes
from support.lakes import MAIN, Stage, open_stage

FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


def put(stage: Stage, key: bytes, body: bytes = b"") -> None:
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(key), body)


def record(stage: Stage, key: bytes) -> Commit:
    """Put an object and commit it."""
    put(stage, key)
    return commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", key.decode()))


def branch_of(stage: Stage) -> Branch:
    return stage.lake.branches.fresh(stage.repository, MAIN).record


def elsewhere(stage: Stage, store: Store | None = None) -> Stage:
    """Give the same lake as another process sees it, through a store of its own."""
    lake = Lake.of(store or stage.lake.store, stage.lake.environment, stage.lake.storage)
    return Stage(lake, stage.repository, stage.storage)


def shown(stage: Stage) -> list[bytes]:
    page = list_objects(elsewhere(stage).lake, stage.repository, MAIN)
    return [getattr(item, "key", b"") for item in page.items]


def move(stage: Stage, target: Commit, *, force: bool = False) -> Branch:
    return hard_reset(stage.lake, stage.repository, MAIN, target, force=force)


def test_a_branch_goes_back_and_forth_between_commits() -> None:
    stage = open_stage()
    one, two = record(stage, b"a"), record(stage, b"b")
    move(stage, one)
    assert (branch_of(stage).commit_id, shown(stage)) == (one.id, [b"a"])
    move(stage, two)
    assert (branch_of(stage).commit_id, shown(stage)) == (two.id, [b"a", b"b"])


def test_pach_C3_the_next_commit_begins_a_line_and_goes_on_counting() -> None:
    stage = open_stage()
    one, two = record(stage, b"a"), record(stage, b"b")
    move(stage, one)
    three = record(stage, b"c")

    assert three.parents == (one.id,)
    assert own(three).branch != own(two).branch
    assert own(three).commit == 0
    assert [ordinal.first for ordinal in branch_of(stage).ordinals] == [0, 3]


def test_the_tip_that_was_left_is_found_though_its_row_was_missing() -> None:
    stage = open_stage()
    one, two = record(stage, b"a"), record(stage, b"b")
    stage.lake.store.delete(partition_of(stage.repository), clock_key(*own(two)))  # a crash
    move(stage, one)
    assert ClockIndex.of(stage.lake.store, stage.repository).find(own(two)) == two.id


def test_going_where_it_stands_keeps_the_line() -> None:
    stage = open_stage()
    one = record(stage, b"a")
    put(stage, b"b")
    before = branch_of(stage)
    after = move(stage, one, force=True)
    assert (after.lineage, after.ordinals) == (before.lineage, before.ordinals)
    assert shown(stage) == [b"a"]


def test_a_commit_that_no_branch_ever_had_is_refused() -> None:
    stage = open_stage()
    one = record(stage, b"a")
    lost = msgspec.structs.replace(one, id=CommitId("0" * 64))
    with pytest.raises(Conflict, match="never published"):
        move(stage, lost)


@pytest.mark.parametrize("how", ["staged", "sealed", "compacted"])
def test_rel_H7_uncommitted_changes_are_refused_or_forgotten_by_force(how: str) -> None:
    stage = open_stage()
    one = record(stage, b"a")
    record(stage, b"b")
    put(stage, b"c")
    {"staged": branch_of, "sealed": lambda _: sealed(stage), "compacted": compact_main}[how](stage)
    before = branch_of(stage)
    with pytest.raises(InvalidInput, match="uncommitted changes") as told:
        move(stage, one)
    assert told.value.code == "dirty-branch"
    assert branch_of(stage) == before

    move(stage, one, force=True)
    assert shown(stage) == [b"a"]
    assert branch_of(stage).sealed_tokens == ()
    noted = {name.decode() for name, _ in token_notes(stage.lake.store).scan()}
    assert set(tokens_of(before)) <= noted


def sealed(stage: Stage) -> None:
    seal(stage.lake, stage.repository, MAIN)


def compact_main(stage: Stage) -> None:
    compact(stage.lake, stage.repository, MAIN)


def test_rows_that_change_nothing_do_not_stand_in_the_way_and_do_not_stay() -> None:
    stage = open_stage()
    one = record(stage, b"a")
    record(stage, b"b")
    put(stage, b"b")  # as it is committed
    move(stage, one)
    assert shown(stage) == [b"a"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_a_hard_reset_that_fails_is_done_or_not(fault: Fault, *, force: bool) -> None:
    world = RealEnvironment()
    for number in count(1):
        stage = open_stage(MemoryStore(world), world)
        one, two = record(stage, b"a"), record(stage, b"b")
        put(stage, b"b" if not force else b"c")
        tokens = set(tokens_of(branch_of(stage)))
        faulty = Faulty(stage.lake.store, fail_nth(number, fault), world)
        done = False
        with suppress(LochanError, Crashed):
            move(elsewhere(stage, faulty), one, force=force)
            done = True
        stage = elsewhere(stage)
        found, branch = shown(stage), branch_of(stage)
        moved = branch.commit_id == one.id
        assert moved == done or (moved and fault is Fault.CRASH_AFTER)
        assert (found == [b"a"]) if branch.commit_id == one.id else (found[:2] == [b"a", b"b"])
        noted = {name.decode() for name, _ in token_notes(stage.lake.store).scan()}
        assert tokens - set(tokens_of(branch)) <= noted  # H10
        assert ClockIndex.of(stage.lake.store, stage.repository).find(own(two)) == two.id
        move(stage, one, force=force)
        assert record(stage, b"d").parents == (one.id,)
        if faulty.calls < number:
            assert done
            return
