# SPDX-License-Identifier: Apache-2.0
"""Reverts and cherry-picks."""

import pytest

from lochan.errors import InvalidInput
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.merge import MergeConflict, MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")
REQUEST = TransplantRequest("ada")


def record(stage: Stage, branch: BranchName, **objects: bytes) -> Commit:
    for key, body in objects.items():
        put_object(stage.lake, stage.repository, branch, ObjectKey(key.encode()), body)
    return commit(stage.lake, stage.repository, branch, CommitRequest("ada", f"on {branch}"))


def keys(stage: Stage, made: Commit) -> list[bytes]:
    return [row.key for row in stage.storage.snapshots.cursor(made.meta_range_id)]


def test_a_revert_undoes_one_commit_and_keeps_later_ones() -> None:
    stage = open_stage()
    record(stage, MAIN, a=b"1")
    undone = record(stage, MAIN, b=b"2")
    record(stage, MAIN, c=b"3")
    made = revert(stage.lake, stage.repository, MAIN, undone, REQUEST)
    assert keys(stage, made) == [b"a", b"c"]
    assert made.message == f"Revert {undone.id}"


def test_what_was_changed_since_is_a_conflict() -> None:
    stage = open_stage()
    record(stage, MAIN, a=b"1")
    undone = record(stage, MAIN, a=b"2")
    record(stage, MAIN, a=b"3")
    with pytest.raises(MergeConflict):
        revert(stage.lake, stage.repository, MAIN, undone, REQUEST)


def test_a_cherry_pick_brings_one_commit_and_says_where_it_is_from() -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, record(stage, MAIN, a=b"1").id)
    record(stage, DEV, b=b"2")
    picked = record(stage, DEV, c=b"3")
    made = cherry_pick(stage.lake, stage.repository, MAIN, picked, REQUEST)
    assert keys(stage, made) == [b"a", b"c"]
    assert made.metadata["cherry-pick-origin"] == picked.id
    with pytest.raises(InvalidInput, match="would not change"):
        cherry_pick(stage.lake, stage.repository, MAIN, picked, REQUEST)


def test_a_merge_is_reverted_only_against_a_parent_that_is_named() -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, record(stage, MAIN, a=b"1").id)
    theirs = record(stage, DEV, b=b"2")
    record(stage, MAIN, c=b"3")
    made = merge(stage.lake, stage.repository, MAIN, theirs, MergeRequest("ada"))
    with pytest.raises(InvalidInput, match="is a merge"):
        revert(stage.lake, stage.repository, MAIN, made, REQUEST)
    undone = revert(
        stage.lake, stage.repository, MAIN, made, TransplantRequest("ada", parent_number=1)
    )
    assert keys(stage, undone) == [b"a", b"c"]


def test_the_first_commit_has_nothing_to_undo() -> None:
    stage = open_stage()
    first = stage.lake.branches.fresh(stage.repository, MAIN).record.commit_id
    commits = stage.lake.tables(stage.repository).commits
    with pytest.raises(InvalidInput, match="first one"):
        revert(stage.lake, stage.repository, MAIN, commits.get(first.encode()).record, REQUEST)
