# SPDX-License-Identifier: Apache-2.0
"""Conditional writes against others that come in between any two of their store calls (H5)."""

import pytest

from lochan.errors import PredicateFailed
from lochan.model.codec import decode_entry
from lochan.model.ids import ObjectKey
from lochan.operations.conditions import Condition, if_absent, if_match, if_present
from lochan.operations.put_object import put_object
from support.branch_content import (
    committed_and_cleaned,
    content,
    delete,
    every_place,
    put,
    record,
    records,
)
from support.lakes import MAIN, Stage, open_stage

KEY = ObjectKey(b"a")


def put_if(stage: Stage, body: bytes, condition: Condition) -> bool:
    try:
        put_object(stage.lake, stage.repository, MAIN, KEY, body, condition=condition)
    except PredicateFailed:
        return False
    return True


def nothing(stage: Stage) -> None:
    """Leave a lake as it is."""


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
    for stage, harried in every_place(lambda stage: put(stage, b"x", b"x"), committed_and_cleaned):
        assert put_if(harried, b"1", if_absent)
        assert content(stage) == {b"a": b"1", b"x": b"x"}


def test_rel_H5_a_tombstone_that_comes_meanwhile_is_no_conflict() -> None:
    for _, harried in every_place(nothing, lambda stage: delete(stage, b"a")):
        assert put_if(harried, b"1", if_absent)


def test_rel_H5_a_winner_that_was_committed_and_cleaned_is_still_a_winner() -> None:
    def win(stage: Stage) -> None:
        put(stage, b"a", b"2")
        committed_and_cleaned(stage)

    for stage, harried in every_place(nothing, win):
        if put_if(harried, b"1", if_absent):
            (shown,) = records(stage)
            assert decode_entry(shown.value).size == 1
        else:
            assert content(stage) == {b"a": b"2"}


def test_conditions_say_what_they_say() -> None:
    stage = open_stage()
    assert not put_if(stage, b"1", if_present)
    assert not put_if(stage, b"1", if_match("x"))
    assert put_if(stage, b"1", if_absent)
    assert put_if(stage, b"2", if_present)
    assert not put_if(stage, b"3", if_match("c4ca4238a0b923820dcc509a6f75849b"))
    with pytest.raises(PredicateFailed, match="not as the request expects"):
        put_object(stage.lake, stage.repository, MAIN, KEY, b"4", condition=if_absent)
