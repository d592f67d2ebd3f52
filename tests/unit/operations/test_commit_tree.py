# SPDX-License-Identifier: Apache-2.0
"""Commits of a tree that is there already, and commits with a date of their own."""

import pytest

from lochan.errors import InvalidInput, Refused
from lochan.model.ids import EMPTY_TREE, MetaRangeId
from lochan.model.instant import from_seconds
from lochan.operations.commit import CommitRequest, commit, commit_tree
from lochan.operations.protection import add_branch_protection
from support.branch_content import content, put, record
from support.lakes import MAIN, open_stage

ADA = CommitRequest("ada", "as it is")


def test_a_tree_is_committed_as_it_is() -> None:
    stage = open_stage()
    put(stage, b"a", b"1")
    first = record(stage)
    put(stage, b"a", b"2")
    record(stage)
    made = commit_tree(stage.lake, stage.repository, MAIN, first.meta_range_id, ADA)
    assert (made.meta_range_id, content(stage)) == (first.meta_range_id, {b"a": b"1"})
    commit_tree(stage.lake, stage.repository, MAIN, EMPTY_TREE, ADA)
    assert content(stage) == {}


def test_a_tree_is_not_committed_over_staged_changes_nor_twice_nor_against_a_rule() -> None:
    stage = open_stage()
    put(stage, b"a", b"1")
    with pytest.raises(InvalidInput, match="uncommitted changes"):
        commit_tree(stage.lake, stage.repository, MAIN, EMPTY_TREE, ADA)
    tree = record(stage).meta_range_id
    with pytest.raises(InvalidInput, match="would not change"):
        commit_tree(stage.lake, stage.repository, MAIN, tree, ADA)
    add_branch_protection(stage.lake, stage.repository, "m*")
    with pytest.raises(Refused):
        commit_tree(stage.lake, stage.repository, MAIN, EMPTY_TREE, ADA)


def test_a_tree_that_is_not_there_is_refused_and_nothing_moves() -> None:
    stage = open_stage()
    with pytest.raises(InvalidInput, match="not in the storage"):
        commit_tree(stage.lake, stage.repository, MAIN, MetaRangeId("ab" * 32), ADA)
    assert stage.lake.branches.fresh(stage.repository, MAIN).record.lineage
    assert content(stage) == {}


def test_a_commit_has_the_date_that_its_committer_gives() -> None:
    stage = open_stage()
    put(stage, b"a", b"1")
    dated = CommitRequest("ada", "then", creation_date=from_seconds(1_000_000_000))
    made = commit(stage.lake, stage.repository, MAIN, dated)
    assert made.creation_date == from_seconds(1_000_000_000)
    again = CommitRequest("ada", "first", allow_empty=True, creation_date=from_seconds(0))
    assert commit(stage.lake, stage.repository, MAIN, again).creation_date == 0
