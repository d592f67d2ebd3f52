# SPDX-License-Identifier: Apache-2.0
"""Conditional writes beside what moves a branch: none is written over what came meanwhile (H5)."""

from contextlib import suppress

import pytest

from lochan.errors import Conflict, InvalidInput, Refused
from lochan.operations.branches import create_branch
from lochan.operations.compact import compact
from lochan.operations.hard_reset import hard_reset
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.reference import commit_of
from lochan.operations.transplant import TransplantRequest, revert
from support.branch_content import (
    content,
    delete,
    every_two_places,
    put,
    record,
)
from support.conditional_puts import (
    DEV,
    OURS,
    Story,
    commit_another,
    is_now,
    one_committed,
    one_deleted,
    put_if,
    sealed,
    value,
)
from support.lakes import MAIN, Stage


def compacted(stage: Stage) -> None:
    compact(stage.lake, stage.repository, MAIN)


MOVES: dict[str, Story] = {
    "revert": lambda stage: revert(
        stage.lake,
        stage.repository,
        MAIN,
        commit_of(stage.lake, stage.repository, f"{MAIN}@"),
        TransplantRequest("ada", "undone"),
    ),
    "merge": lambda stage: merge(
        stage.lake,
        stage.repository,
        MAIN,
        commit_of(stage.lake, stage.repository, DEV),
        MergeRequest("ada", allow_dirty=True, strategy="source-wins"),
    ),
    "hard reset": lambda stage: hard_reset(
        stage.lake,
        stage.repository,
        MAIN,
        commit_of(stage.lake, stage.repository, f"{MAIN}~1"),
    ),
}


@pytest.mark.parametrize("move", MOVES)
def test_rel_H5_what_a_move_put_over_a_committed_write_is_not_undone(move: str) -> None:
    """Our row is committed; a revert or a merge replaces it before we write again."""

    def brought(stage: Stage) -> None:
        one_committed(stage)
        create_branch(stage.lake, stage.repository, DEV, record(stage).id)
        put(stage, b"a", b"theirs", DEV)
        record(stage, DEV)

    moved: list[bytes | None] = []

    def replace(stage: Stage) -> None:
        if content(stage, f"{MAIN}@").get(b"a") != OURS or value(stage) != OURS:
            return
        with suppress(Refused, InvalidInput, Conflict):
            MOVES[move](stage)
            moved.append(value(stage))

    times = 0
    for stage, harried in every_two_places(brought, record, replace):
        ours = put_if(harried, OURS, is_now(b"0"))
        if moved:
            assert ours is not False, "it is committed"
            assert value(stage) == moved.pop()
            times += 1
    assert times


def test_rel_H5_what_was_judged_before_a_hard_reset_is_not_written_over_it() -> None:
    """The reset finds nothing staged; a commit takes the row before it can be taken back."""
    was_reset: list[bool] = []

    def set_back(stage: Stage) -> None:
        with suppress(Refused, Conflict, InvalidInput):
            first = commit_of(stage.lake, stage.repository, f"{MAIN}~1")
            hard_reset(stage.lake, stage.repository, MAIN, first)
            was_reset.append(value(stage) is None)

    times = 0
    for _, harried in every_two_places(one_committed, set_back, commit_another):
        ours = put_if(harried, OURS, is_now(b"0"))
        if any(was_reset):
            assert ours is not True
            times += 1
        was_reset.clear()
    assert times


@pytest.mark.parametrize("put_away", [sealed, compacted])
def test_rel_H5_what_was_judged_before_a_revert_is_not_written_over_it(put_away: Story) -> None:
    """What it was judged by is committed and reverted before the row comes."""

    def staged_over(stage: Stage) -> None:
        one_committed(stage)
        put(stage, b"a", b"1")
        put_away(stage)

    reverted: list[bool] = []

    def commit_and_revert(stage: Stage) -> None:
        if value(stage) == b"1":
            record(stage)
            MOVES["revert"](stage)
            reverted.append(True)

    times = 0
    for _, harried in every_two_places(staged_over, commit_and_revert, commit_another):
        ours = put_if(harried, OURS, is_now(b"1"))
        if reverted:
            assert ours is not True
            times += 1
        reverted.clear()
    assert times


def test_rel_H5_a_value_that_was_there_for_a_moment_is_not_replaced_afterwards() -> None:
    """The row that is swapped is the one that was judged."""
    gone: list[bool] = []

    def take_away(stage: Stage) -> None:
        gone.append(True)
        delete(stage, b"a")

    times = 0
    for stage, harried in every_two_places(
        one_deleted,
        lambda stage: put(stage, b"a", b"theirs"),
        take_away,
    ):
        ours = put_if(harried, OURS, is_now(b"theirs"))
        if gone:
            assert value(stage) is None
            times += bool(ours)
        gone.clear()
    assert times
