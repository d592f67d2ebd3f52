# SPDX-License-Identifier: Apache-2.0
"""Branches are made and deleted without touching a commit or an object."""

import pytest

from lochan.errors import NotFound, NotUnique, Refused
from lochan.model.ids import BranchName, CommitId, ObjectKey
from lochan.model.records import BranchProtectionRule
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.protection import set_branch_protection
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from lochan.refs.branches import list_branches
from lochan.refs.cleaner import Cleaner
from support.lakes import MAIN, Stage, open_stage

DEV = BranchName("dev")


def committed(stage: Stage) -> CommitId:
    put_object(stage.lake, stage.repository, MAIN, ObjectKey(b"a"), b"one")
    return commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "one")).id


def test_a_new_branch_shows_what_its_commit_holds() -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, committed(stage))
    assert stat_object(stage.lake, stage.repository, DEV, ObjectKey(b"a")).size == 3


def test_a_name_is_taken_once_and_a_commit_must_be_there() -> None:
    stage = open_stage()
    head = committed(stage)
    create_branch(stage.lake, stage.repository, DEV, head)
    with pytest.raises(NotUnique):
        create_branch(stage.lake, stage.repository, DEV, head)
    with pytest.raises(NotFound):
        create_branch(stage.lake, stage.repository, BranchName("x"), CommitId("0" * 64))


def test_rel_H18_a_deleted_branch_takes_its_staged_writes_along() -> None:
    stage = open_stage()
    made = create_branch(stage.lake, stage.repository, DEV, committed(stage))
    put_object(stage.lake, stage.repository, DEV, ObjectKey(b"b"), b"two")
    delete_branch(stage.lake, stage.repository, DEV)
    cleaner = Cleaner(stage.lake.store, stage.lake.environment, grace_s=0)
    for _ in range(3):
        assert cleaner.run().skipped == ()

    assert stage.lake.staging.is_empty(made.staging_token)
    with pytest.raises(NotFound, match="no branch 'dev'"):
        put_object(stage.lake, stage.repository, DEV, ObjectKey(b"b"), b"two")


def test_rel_R8_a_branch_made_again_shows_nothing_of_the_former() -> None:
    stage = open_stage()
    head = committed(stage)
    create_branch(stage.lake, stage.repository, DEV, head)
    put_object(stage.lake, stage.repository, DEV, ObjectKey(b"b"), b"two")
    delete_branch(stage.lake, stage.repository, DEV)
    create_branch(stage.lake, stage.repository, DEV, head)
    with pytest.raises(NotFound, match="no object 'b'"):
        stat_object(stage.lake, stage.repository, DEV, ObjectKey(b"b"))


def test_hidden_branches_are_listed_only_if_asked_for() -> None:
    stage = open_stage()
    head = committed(stage)
    create_branch(stage.lake, stage.repository, DEV, head)
    create_branch(stage.lake, stage.repository, BranchName("tx-1"), head, hidden=True)
    put_object(stage.lake, stage.repository, BranchName("tx-1"), ObjectKey(b"b"), b"two")
    tables = stage.lake.tables(stage.repository)
    assert [branch.branch_id for branch in list_branches(tables)] == ["dev", "main"]
    every = list_branches(tables, hidden=True)
    assert [branch.branch_id for branch in every] == ["dev", "main", "tx-1"]


def test_the_default_branch_and_protected_ones_are_not_deleted() -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, committed(stage))
    with pytest.raises(Refused, match="default branch") as told:
        delete_branch(stage.lake, stage.repository, MAIN)
    assert told.value.code == "default-branch"
    rules = [BranchProtectionRule("d?v")]
    set_branch_protection(stage.lake, stage.repository, rules)
    with pytest.raises(Refused, match="cannot delete protected branch 'dev'"):
        delete_branch(stage.lake, stage.repository, DEV)
    set_branch_protection(stage.lake, stage.repository, [])
    delete_branch(stage.lake, stage.repository, DEV)
