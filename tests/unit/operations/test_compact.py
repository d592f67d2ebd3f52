# SPDX-License-Identifier: Apache-2.0
"""Compaction: a branch shows the same, from a tree instead of rows."""

from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, LochanError
from lochan.faults import Crashed, Fault
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Branch, Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.compactor import Compactor
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake
from lochan.operations.list_objects import list_objects
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.seal import seal
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")


def put(stage: Stage, *keys: str, branch: BranchName = MAIN, lake: Lake | None = None) -> None:
    for key in keys:
        name = ObjectKey(key.encode())
        put_object(lake or stage.lake, stage.repository, branch, name, key.encode())


def delete(stage: Stage, *keys: str) -> None:
    delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(key.encode()) for key in keys])


def record(stage: Stage, message: str = "kept", branch: BranchName = MAIN) -> Commit:
    return commit(stage.lake, stage.repository, branch, CommitRequest("ada", message))


def shown(stage: Stage) -> list[str]:
    page = list_objects(stage.lake, stage.repository, MAIN)
    return [item.key.decode() for item in page.items if isinstance(item, Record)]


def branch_of(stage: Stage) -> Branch:
    return stage.lake.branches.fresh(stage.repository, MAIN).record


def held(stage: Stage, made: Commit) -> list[str]:
    return [row.key.decode() for row in stage.storage.snapshots.cursor(made.meta_range_id)]


def test_a_compacted_branch_shows_the_same_without_tokens() -> None:
    stage = open_stage()
    put(stage, "a", "b")
    record(stage)
    put(stage, "c")
    delete(stage, "a")
    head = branch_of(stage).commit_id
    after = compact(stage.lake, stage.repository, MAIN)

    assert shown(stage) == ["b", "c"]
    assert (after.commit_id, after.sealed_tokens) == (head, ())
    assert stage.lake.staging.is_empty(after.staging_token)


def test_the_next_commit_holds_what_was_compacted_and_what_came_after() -> None:
    stage = open_stage()
    put(stage, "a", "b")
    compact(stage.lake, stage.repository, MAIN)
    delete(stage, "a")
    put(stage, "c")

    assert held(stage, record(stage)) == ["b", "c"]
    assert not branch_of(stage).compacted_base_meta_range_id


def test_what_was_compacted_can_be_committed_alone() -> None:
    stage = open_stage()
    put(stage, "a")
    compact(stage.lake, stage.repository, MAIN)

    assert held(stage, record(stage)) == ["a"]


def test_a_branch_compacted_to_nothing_shows_nothing() -> None:
    stage = open_stage()
    put(stage, "a")
    record(stage)
    delete(stage, "a")
    compact(stage.lake, stage.repository, MAIN)

    assert shown(stage) == []
    assert held(stage, record(stage)) == []


def test_rows_that_change_nothing_leave_no_compacted_tree() -> None:
    stage = open_stage()
    put(stage, "a")
    delete(stage, "a")
    after = compact(stage.lake, stage.repository, MAIN)

    assert not after.compacted_base_meta_range_id
    with pytest.raises(InvalidInput, match="nothing to commit"):
        record(stage)


def test_a_merge_refuses_a_branch_with_compacted_changes() -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, branch_of(stage).commit_id)
    put(stage, "x", branch=DEV)
    source = record(stage, branch=DEV)
    put(stage, "a")
    compact(stage.lake, stage.repository, MAIN)

    with pytest.raises(InvalidInput) as refused:
        merge(stage.lake, stage.repository, MAIN, source, MergeRequest("ada"))
    assert refused.value.code == "dirty-branch"


def test_rel_H7_a_merge_that_may_be_dirty_leaves_what_was_compacted_uncommitted() -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, branch_of(stage).commit_id)
    put(stage, "x", branch=DEV)
    source = record(stage, branch=DEV)
    put(stage, "a")
    compact(stage.lake, stage.repository, MAIN)
    request = MergeRequest("ada", allow_dirty=True)

    assert held(stage, merge(stage.lake, stage.repository, MAIN, source, request)) == ["x"]
    assert shown(stage) == ["a", "x"]
    assert held(stage, record(stage)) == ["a", "x"]


def test_rel_H11_a_branch_with_many_sealed_tokens_is_compacted() -> None:
    stage = open_stage()
    for number in range(4):
        put(stage, f"key{number}")
        seal(stage.lake, stage.repository, MAIN)
    done = Compactor(stage.lake, tokens=3).run()

    assert [compaction.error for compaction in done] == [None]
    assert branch_of(stage).sealed_tokens == ()
    assert shown(stage) == [f"key{number}" for number in range(4)]


def test_the_compactor_leaves_a_branch_alone_on_which_little_is_staged() -> None:
    stage = open_stage()
    put(stage, "a", "b")

    assert Compactor(stage.lake, rows=3).run() == []
    put(stage, "c")
    assert len(Compactor(stage.lake, rows=3).run()) == 1


actions = st.sampled_from(["put", "delete", "commit", "compact", "seal"])


@given(st.lists(st.tuples(actions, st.sampled_from("abcd")), max_size=25))
def test_compaction_at_any_time_changes_nothing_that_is_shown(todo: list[tuple[str, str]]) -> None:
    stage, model = open_stage(), set[str]()
    for action, key in todo:
        if action == "put":
            put(stage, key)
            model.add(key)
        elif action == "delete":
            delete(stage, key)
            model.discard(key)
        elif action == "commit":
            with suppress(InvalidInput):
                assert held(stage, record(stage)) == sorted(model)
        else:
            {"compact": compact, "seal": seal}[action](stage.lake, stage.repository, MAIN)
        assert shown(stage) == sorted(model)


@pytest.mark.parametrize("fault", list(Fault))
def test_rel_G7_no_failure_of_a_compaction_loses_what_was_acknowledged(fault: Fault) -> None:
    for nth in count(1):
        store = MemoryStore(RealEnvironment())
        stage = open_stage(store)
        put(stage, "a")
        faulty = Faulty(store, fail_nth(nth, fault), RealEnvironment())
        lake = Lake.of(faulty, RealEnvironment(), stage.lake.storage)
        with suppress(LochanError, Crashed):
            compact(lake, stage.repository, MAIN)
            put(stage, "b", lake=lake)
        assert "a" in shown(stage)
        assert "a" in held(stage, record(stage))
        if faulty.calls < nth:
            assert nth > 5
            return
