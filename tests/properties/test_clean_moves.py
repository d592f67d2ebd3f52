# SPDX-License-Identifier: Apache-2.0
"""Rows that change nothing on a branch that is moved: they hide nothing, and lose nothing."""

from contextlib import suppress

import pytest

from lochan.errors import InvalidInput
from lochan.kv.faulty import Faulty
from lochan.model.ids import BranchName
from lochan.model.instant import Instant
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.compact import compact
from lochan.operations.import_objects import ImportRequest, ListedObject, import_objects
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.seal import seal
from support.branch_content import content, delete, put, record
from support.lake_model import e_tag
from support.lakes import MAIN, Stage, open_stage
from support.repository_life import at, every_call

DEV, FIX = BranchName("dev"), BranchName("fix")
REQUEST = MergeRequest("ada")


def begun() -> tuple[Stage, Commit]:
    """Make a lake whose branch main has one object."""
    stage = open_stage()
    put(stage, b"a", b"old")
    return stage, record(stage)


def grown(stage: Stage, name: BranchName, first: Commit, key: bytes, body: bytes) -> Commit:
    """Make a branch with a commit of its own."""
    create_branch(stage.lake, stage.repository, name, first.id)
    put(stage, key, body, name)
    return record(stage, name)


def test_rel_G7_a_merge_keeps_a_write_that_takes_an_unfinished_commit_back() -> None:
    stage, first = begun()
    source = grown(stage, DEV, first, b"b", b"1")
    put(stage, b"a", b"other")
    seal(stage.lake, stage.repository, MAIN)  # a commit that died
    lake = Lake.of(stage.lake.store, stage.lake.environment, stage.lake.storage)
    stage = Stage(lake, stage.repository, stage.storage)
    put(stage, b"a", b"old")
    merge(lake, stage.repository, MAIN, source, REQUEST)
    assert content(stage) == {b"a": b"old", b"b": b"1"}


def test_rel_G7_a_merge_keeps_a_write_that_was_made_over_another_merge() -> None:
    def run(number: int) -> Faulty:
        stage, first = begun()
        theirs, ours = grown(stage, DEV, first, b"a", b"new"), grown(stage, FIX, first, b"b", b"1")

        def meanwhile() -> None:
            merge(stage.lake, stage.repository, MAIN, theirs, REQUEST)
            put(stage, b"a", b"old")

        faulty = Faulty(stage.lake.store, at(number, meanwhile), stage.lake.environment)
        lake = Lake.of(faulty, stage.lake.environment, stage.lake.storage)
        with suppress(InvalidInput):  # it came before the look, and the branch is dirty
            merge(lake, stage.repository, MAIN, ours, REQUEST)
        if faulty.calls >= number:
            assert content(stage)[b"a"] == b"old", f"lost by a merge that was at call {number}"
        return faulty

    assert every_call(run) > 10


def test_rel_G8_rows_that_change_nothing_do_not_hide_an_import() -> None:
    stage, _ = begun()
    put(stage, b"a", b"old")
    listed = ListedObject(b"a", "mem://far/a", 3, e_tag(b"new"), Instant(1))
    stage.storage.objects.put("a", b"new")
    import_objects(stage.lake, stage.repository, MAIN, [listed], ImportRequest("ada"))
    assert content(stage) == {b"a": b"new"}


def test_rel_G8_the_same_content_again_is_no_change_after_a_compaction() -> None:
    stage, _ = begun()
    delete(stage, b"a")
    compact(stage.lake, stage.repository, MAIN)
    put(stage, b"a", b"old")
    with pytest.raises(InvalidInput, match="nothing to commit"):
        commit(stage.lake, stage.repository, MAIN, CommitRequest("ada", "x"))
