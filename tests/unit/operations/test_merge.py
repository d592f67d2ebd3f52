# SPDX-License-Identifier: Apache-2.0
"""Merges into a branch: what they bring, what they refuse, and what they must not undo."""

from contextlib import suppress
from itertools import count

import pytest

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, LochanError
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.advance import settle
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.diff import diff_uncommitted
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeConflict, MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.seal import seal
from lochan.refs.kinship import Kinship
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")
REQUEST = MergeRequest("ada")


def put(stage: Stage, branch: BranchName, **objects: bytes) -> None:
    for key, body in objects.items():
        put_object(stage.lake, stage.repository, branch, ObjectKey(key.encode()), body)


def record(stage: Stage, branch: BranchName, **objects: bytes) -> Commit:
    put(stage, branch, **objects)
    return commit(stage.lake, stage.repository, branch, CommitRequest("ada", f"on {branch}"))


def head(stage: Stage, branch: BranchName = MAIN) -> Commit:
    name = stage.lake.branches.fresh(stage.repository, branch).record.commit_id
    return stage.lake.tables(stage.repository).commits.get(name.encode()).record


def keys(stage: Stage, made: Commit) -> list[bytes]:
    return [row.key for row in stage.storage.snapshots.cursor(made.meta_range_id)]


@pytest.fixture
def stage() -> Stage:
    """Make two branches that parted after one commit and each got one of its own."""
    made = open_stage()
    create_branch(made.lake, made.repository, DEV, record(made, MAIN, a=b"1").id)
    record(made, DEV, b=b"2")
    record(made, MAIN, c=b"3")
    return made


def test_a_merge_holds_both_sides(stage: Stage) -> None:
    ours, theirs = head(stage), head(stage, DEV)
    made = merge(stage.lake, stage.repository, MAIN, theirs, REQUEST)

    assert keys(stage, made) == [b"a", b"b", b"c"]
    assert made.parents == (ours.id, theirs.id)
    assert made.generation == 1 + max(ours.generation, theirs.generation)
    assert head(stage) == made


def test_what_was_merged_is_an_ancestor_and_is_not_merged_again(stage: Stage) -> None:
    theirs = head(stage, DEV)
    made = merge(stage.lake, stage.repository, MAIN, theirs, REQUEST)
    assert Kinship.of(stage.lake.store, stage.repository).is_ancestor(theirs, made)
    with pytest.raises(InvalidInput, match="already"):
        merge(stage.lake, stage.repository, MAIN, theirs, REQUEST)


def test_a_squash_brings_content_without_history(stage: Stage) -> None:
    ours, theirs = head(stage), head(stage, DEV)
    made = merge(stage.lake, stage.repository, MAIN, theirs, MergeRequest("ada", squash=True))
    assert (keys(stage, made), made.parents) == ([b"a", b"b", b"c"], (ours.id,))
    assert not Kinship.of(stage.lake.store, stage.repository).is_ancestor(theirs, made)


def test_a_conflict_is_told_by_its_keys_and_moves_nothing(stage: Stage) -> None:
    record(stage, MAIN, x=b"ours")
    record(stage, DEV, x=b"theirs")
    before = head(stage)
    with pytest.raises(MergeConflict, match="1 objects were changed on both sides") as told:
        merge(stage.lake, stage.repository, MAIN, head(stage, DEV), REQUEST)
    assert [each.key for each in told.value.keys] == [b"x"]
    assert head(stage) == before


@pytest.mark.parametrize(("strategy", "winner"), [("dest-wins", MAIN), ("source-wins", DEV)])
def test_a_strategy_settles_conflicts(stage: Stage, strategy: str, winner: BranchName) -> None:
    record(stage, MAIN, x=b"ours")
    record(stage, DEV, x=b"theirs")
    wanted = stage.storage.snapshots.get(head(stage, winner).meta_range_id, b"x")
    request = MergeRequest("ada", strategy=strategy)
    made = merge(stage.lake, stage.repository, MAIN, head(stage, DEV), request)
    assert stage.storage.snapshots.get(made.meta_range_id, b"x") == wanted
    assert made.metadata[".lakefs.merge.strategy"] == strategy


def test_a_dirty_destination_is_refused(stage: Stage) -> None:
    put(stage, MAIN, d=b"4")
    with pytest.raises(InvalidInput, match="uncommitted changes") as told:
        merge(stage.lake, stage.repository, MAIN, head(stage, DEV), REQUEST)
    assert told.value.code == "dirty-branch"


def test_staged_rows_that_change_nothing_are_no_dirt(stage: Stage) -> None:
    put(stage, MAIN, a=b"1")
    delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"never")])
    made = merge(stage.lake, stage.repository, MAIN, head(stage, DEV), REQUEST)
    assert keys(stage, made) == [b"a", b"b", b"c"]


def test_rel_H7_what_a_commit_under_way_had_sealed_is_carried_along(stage: Stage) -> None:
    put(stage, MAIN, d=b"4")
    seal(stage.lake, stage.repository, MAIN)  # and its committer dies here
    stage.lake.branches.fresh(stage.repository, MAIN)  # a stale token would get the write as well
    put(stage, MAIN, e=b"5")
    request = MergeRequest("ada", allow_dirty=True)
    made = merge(stage.lake, stage.repository, MAIN, head(stage, DEV), request)

    assert keys(stage, made) == [b"a", b"b", b"c"]
    branch = stage.lake.branches.fresh(stage.repository, MAIN).record
    assert branch.sealed_tokens == ()
    last = commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "rest"))
    assert keys(stage, last) == [b"a", b"b", b"c", b"d", b"e"]


@pytest.mark.parametrize(
    "fault", [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]
)
def test_no_failure_of_a_merge_leaves_half_of_it(fault: Fault) -> None:
    world = RealEnvironment()
    for number in count(1):
        stage = open_stage(MemoryStore(world), world)
        create_branch(stage.lake, stage.repository, DEV, head(stage).id)
        theirs = record(stage, DEV, b=b"2")
        ours = record(stage, MAIN, c=b"3")
        faulty = Faulty(stage.lake.store, fail_nth(number, fault), world)
        lake = Lake.of(faulty, world, stage.lake.storage)
        made: Commit | None = None
        with suppress(LochanError, Crashed):
            made = merge(lake, stage.repository, MAIN, theirs, REQUEST)
        fresh = Stage(
            Lake.of(stage.lake.store, world, stage.lake.storage), stage.repository, stage.storage
        )
        now = head(fresh)
        assert now.id == ours.id or (now.parents, keys(fresh, now)) == (
            (ours.id, theirs.id),
            [b"b", b"c"],
        )
        assert made is None or made.id == now.id
        if now.id == ours.id:
            now = merge(fresh.lake, fresh.repository, MAIN, theirs, REQUEST)
        assert Kinship.of(fresh.lake.store, fresh.repository).is_ancestor(theirs, now)
        if faulty.calls < number:
            return


def test_rel_G8_a_row_that_changed_nothing_does_not_hide_what_a_merge_brings(stage: Stage) -> None:
    merge(stage.lake, stage.repository, DEV, head(stage), REQUEST)
    put(stage, MAIN, a=b"1", c=b"3")
    delete_objects(stage.lake, stage.repository, MAIN, [ObjectKey(b"b")])  # it is not there
    record(stage, DEV, a=b"another")
    made = merge(stage.lake, stage.repository, MAIN, head(stage, DEV), REQUEST)

    assert diff_uncommitted(stage.lake, stage.repository, MAIN).changes == ()
    assert keys(stage, made) == [b"a", b"b", b"c"]


def test_a_write_during_a_merge_stays_staged(stage: Stage) -> None:
    put(stage, MAIN, a=b"1")
    theirs = record(stage, DEV, a=b"another")
    settle(stage.lake, stage.repository, MAIN)
    put(stage, MAIN, a=b"late")
    merge(stage.lake, stage.repository, MAIN, theirs, MergeRequest("ada", allow_dirty=True))

    shown = diff_uncommitted(stage.lake, stage.repository, MAIN).changes
    assert [change.key for change in shown] == [b"a"]
