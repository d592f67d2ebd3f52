# SPDX-License-Identifier: Apache-2.0
"""Conditional writes against others that come in between any two of their store calls (H5)."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from lochan.errors import Conflict, PredicateFailed
from lochan.operations.branches import create_branch
from lochan.operations.conditions import Condition, if_absent, if_match, if_present
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from lochan.operations.reference import commit_of
from lochan.operations.seal import seal
from lochan.operations.update_user_metadata import update_user_metadata
from support.branch_content import (
    committed_and_cleaned,
    content,
    delete,
    every_place,
    put,
    record,
)
from support.conditional_puts import DEV, KEY, nothing
from support.conditional_puts import put_if as try_put_if
from support.lakes import MAIN, Stage, open_stage


class Overtaken(Exception):
    """Nobody can tell whether others came before the put or after it."""


def put_if(stage: Stage, body: bytes, condition: Condition) -> bool:
    done = try_put_if(stage, body, condition)
    if done is None:
        raise Overtaken
    return done


def committed_one(stage: Stage) -> None:
    put(stage, b"a", b"1")
    record(stage)


def test_rel_H5_of_two_puts_that_must_be_first_one_wins() -> None:
    won: list[bool] = []
    for stage, harried in every_place(
        nothing, lambda stage: won.append(put_if(stage, b"2", if_absent))
    ):
        ours = put_if(harried, b"1", if_absent)
        assert content(stage) == {b"a": b"1" if ours else b"2"}
        assert ours != won.pop() if won else ours


def test_rel_H5_of_two_puts_over_one_version_one_wins() -> None:
    won: list[bool] = []
    tag = if_match("c4ca4238a0b923820dcc509a6f75849b")  # MD5 of "1"
    for stage, harried in every_place(
        committed_one,
        lambda stage: won.append(put_if(stage, b"3", tag)),
    ):
        ours = put_if(harried, b"2", tag)
        assert content(stage) == {b"a": b"2" if ours else b"3"}
        assert ours != won.pop() if won else ours


def test_rel_H5_ones_own_late_write_is_no_conflict() -> None:
    def sealed(stage: Stage) -> None:
        seal(stage.lake, stage.repository, MAIN)

    for stage, harried in every_place(lambda stage: put(stage, b"x", b"x"), sealed):
        assert put_if(harried, b"1", if_absent)
        assert content(stage) == {b"a": b"1", b"x": b"x"}


def test_rel_H5_a_tombstone_that_comes_meanwhile_is_no_conflict() -> None:
    for _, harried in every_place(nothing, lambda stage: delete(stage, b"a")):
        assert put_if(harried, b"1", if_absent)


def test_rel_H5_a_winner_that_was_committed_and_cleaned_is_still_a_winner() -> None:
    def win(stage: Stage) -> None:
        put(stage, b"a", b"2")
        committed_and_cleaned(stage)

    answers: list[object] = []
    for stage, harried in every_place(nothing, win):
        won: bool | None = None
        with suppress(Overtaken):
            won = put_if(harried, b"1", if_absent)
        answers.append(won)
        assert content(stage) in ([{b"a": b"1"}, {b"a": b"2"}] if won else [{b"a": b"2"}])
    assert set(answers) == {True, False, None}


def brought(stage: Stage) -> None:
    """Have a branch whose merge brings the object."""
    put(stage, b"x", b"x")
    create_branch(stage.lake, stage.repository, DEV, record(stage).id)
    put(stage, b"a", b"merged", DEV)
    record(stage, DEV)


def brought_beside_sealed(stage: Stage) -> None:
    """Have such a branch, and on main a token that a commit has sealed."""
    brought(stage)
    put(stage, b"y", b"y")
    seal(stage.lake, stage.repository, MAIN)


def merged(stage: Stage) -> None:
    source = commit_of(stage.lake, stage.repository, DEV)
    merge(stage.lake, stage.repository, MAIN, source, MergeRequest("ada", allow_dirty=True))


def merged_and_sealed(stage: Stage) -> None:
    merged(stage)
    put(stage, b"z", b"z")
    seal(stage.lake, stage.repository, MAIN)


def merged_and_committed(stage: Stage) -> None:
    merged(stage)
    put(stage, b"z", b"z")
    committed_and_cleaned(stage)


@pytest.mark.parametrize("before", [brought, brought_beside_sealed])
@pytest.mark.parametrize("meanwhile", [merged, merged_and_sealed, merged_and_committed])
def test_rel_H5_what_a_merge_brought_meanwhile_is_not_written_over(
    before: Callable[[Stage], None], meanwhile: Callable[[Stage], None]
) -> None:
    shown: list[bytes] = []

    def merge_and_look(stage: Stage) -> None:
        meanwhile(stage)
        shown.append(content(stage)[b"a"])

    for stage, harried in every_place(before, merge_and_look):
        ours = False
        with suppress(Overtaken):
            ours = put_if(harried, b"1", if_absent)
            assert content(stage)[b"a"] == (b"1" if ours else b"merged")
        assert not (shown and shown.pop() == b"merged" and ours)


def test_rel_H5_metadata_is_not_given_to_what_a_merge_replaced_meanwhile() -> None:
    def before(stage: Stage) -> None:
        put(stage, b"a", b"old")
        brought_beside_sealed(stage)

    shown: list[bytes] = []

    given = 0

    def merge_and_look(stage: Stage) -> None:
        merged(stage)
        shown.append(content(stage)[b"a"])

    for stage, harried in every_place(before, merge_and_look):
        try:
            update_user_metadata(harried.lake, harried.repository, MAIN, KEY, {"owner": "ada"})
        except Conflict as error:
            if error.code != "write-overtaken":
                raise
            shown.clear()
            continue
        given += 1
        assert not (shown and shown.pop() == b"merged") or content(stage)[b"a"] == b"merged"
        found = stat_object(stage.lake, stage.repository, MAIN, KEY)
        assert found.metadata == {"owner": "ada"}
    assert given >= 10


def test_conditions_say_what_they_say() -> None:
    stage = open_stage()
    assert not put_if(stage, b"1", if_present)
    assert not put_if(stage, b"1", if_match("x"))
    assert put_if(stage, b"1", if_absent)
    assert put_if(stage, b"2", if_present)
    assert not put_if(stage, b"3", if_match("c4ca4238a0b923820dcc509a6f75849b"))
    with pytest.raises(PredicateFailed, match="not as the request expects"):
        put_object(stage.lake, stage.repository, MAIN, KEY, b"4", condition=if_absent)
