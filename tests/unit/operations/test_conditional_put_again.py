# SPDX-License-Identifier: Apache-2.0
"""Conditional writes that a seal makes write again, when others have built on the first time (H5).

Between any two of their store calls a commit takes what is staged, and somebody else comes to the
key: then nobody can tell any more whether the write was done, and it must not be done again.
"""

from collections.abc import Callable, Iterator
from hashlib import md5

import pytest

from lochan.errors import Conflict, PredicateFailed
from lochan.model.ids import ObjectKey
from lochan.model.records import Commit
from lochan.operations.conditions import Condition, if_absent, if_match, if_present
from lochan.operations.put_object import put_object
from lochan.operations.reset import reset_object
from lochan.operations.seal import seal
from support.branch_content import (
    again,
    committed_and_cleaned,
    content,
    delete,
    every_place,
    put,
    record,
)
from support.lakes import MAIN, Stage, open_stage

KEY = ObjectKey(b"a")
OURS = b"ours"
Story = Callable[[Stage], object]


def put_if(stage: Stage, body: bytes, condition: Condition) -> bool | None:
    """Put; None where nobody can tell whether it was done."""
    try:
        put_object(stage.lake, stage.repository, MAIN, KEY, body, condition=condition)
    except PredicateFailed:
        return False
    except Conflict as error:
        if error.code != "write-overtaken":
            raise
        return None
    return True


def is_now(body: bytes) -> Condition:
    return if_match(md5(body, usedforsecurity=False).hexdigest())


def value(stage: Stage) -> bytes | None:
    return content(stage).get(b"a")


def commits(stage: Stage) -> Iterator[Commit]:
    for _, each in stage.lake.tables(stage.repository).commits.scan():
        yield each


def sealed(stage: Stage) -> None:
    seal(stage.lake, stage.repository, MAIN)


def nothing(stage: Stage) -> None:
    """Leave a lake as it is."""


def one(stage: Stage) -> None:
    put(stage, b"a", b"0")


def one_committed(stage: Stage) -> None:
    one(stage)
    record(stage)


SEALS: dict[str, Story] = {
    "sealed": sealed,
    "committed": record,
    "committed and cleaned": committed_and_cleaned,
}
RIVALS: dict[str, Story] = {
    "a put": lambda stage: put(stage, b"a", b"theirs"),
    "a delete": lambda stage: delete(stage, b"a"),
    "a put over what is there": lambda stage: put_if(stage, b"theirs", if_present),
    "a put where nothing is": lambda stage: put_if(stage, b"theirs", if_absent),
    "a put over ours": lambda stage: put_if(stage, b"theirs", is_now(OURS)),
    "a reset": lambda stage: reset_object(stage.lake, stage.repository, MAIN, KEY),
}
BEFORE: dict[str, tuple[Story, Condition]] = {
    "nothing": (nothing, if_absent),
    "staged": (one, is_now(b"0")),
    "committed": (one_committed, is_now(b"0")),
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("end", SEALS)
@pytest.mark.parametrize("is_first", [True, False])
def test_rel_H5_a_refused_write_is_in_no_commit_and_never_comes_back(
    before: str, rival: str, end: str, *, is_first: bool
) -> None:
    prepare, condition = BEFORE[before]
    stories = (RIVALS[rival], SEALS[end]) if is_first else (SEALS[end], RIVALS[rival])
    answers: list[bool | None] = []
    for stage, harried in every_place(prepare, lambda stage: [act(stage) for act in stories]):
        answers.append(put_if(harried, OURS, condition))
        if answers[-1] is False:
            assert value(stage) != OURS
            record(stage)
            assert OURS not in [content(stage, each.id).get(b"a") for each in commits(stage)]
    assert answers[-1]


@pytest.mark.parametrize("before", [one, one_committed])
@pytest.mark.parametrize("end", SEALS)
@pytest.mark.parametrize("is_first", [True, False])
def test_rel_H5_no_increment_counts_twice(before: Story, end: str, *, is_first: bool) -> None:
    """Two read a number, write the next one if it is still there, and try again if refused."""

    def increment(stage: Stage) -> bool | None:
        done: bool | None = False
        while done is False:
            read = value(stage) or b""
            done = put_if(stage, str(int(read) + 1).encode(), is_now(read))
        return done

    theirs: list[bool | None] = []

    def meanwhile(stage: Stage) -> None:
        if not is_first:
            SEALS[end](stage)
        theirs.append(increment(stage))
        if is_first:
            SEALS[end](stage)

    for stage, harried in every_place(before, meanwhile):
        done = [increment(harried), *theirs]
        theirs.clear()
        counted = int(value(stage) or b"")
        assert done.count(True) <= counted <= len(done), done


@pytest.mark.parametrize("before", [one, one_committed])
@pytest.mark.parametrize("end", SEALS)
def test_rel_H5_what_another_has_turned_back_is_not_done_again(before: Story, end: str) -> None:
    turned: list[bool | None] = []

    def turn_back(stage: Stage) -> None:
        SEALS[end](stage)
        turned.append(put_if(stage, b"0", is_now(b"1")))

    both = 0
    for stage, harried in every_place(before, turn_back):
        ours = put_if(harried, b"1", is_now(b"0"))
        theirs = turned.pop() if turned else False
        if theirs:
            assert value(stage) == b"0"
            both += 1
        elif ours:
            assert value(stage) == b"1"
    assert both


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("end", SEALS)
@pytest.mark.parametrize("times", [1, 2])
def test_rel_H5_a_write_that_nobody_disturbs_is_always_done(
    before: str, end: str, times: int
) -> None:
    prepare, condition = BEFORE[before]

    def others(stage: Stage) -> None:
        for number in range(times):
            put(stage, b"x", str(number).encode())
            SEALS[end](stage)

    for stage, harried in every_place(prepare, others):
        assert put_if(harried, OURS, condition)
        assert value(stage) == OURS


@pytest.mark.parametrize("end", SEALS)
def test_rel_H5_a_server_that_knows_no_seal_yet_is_told_no_conflict(end: str) -> None:
    """What was written since the seal is judged, and written over, by whoever comes late to it."""
    stage = open_stage()
    one(stage)
    late = again(stage)
    put(late, b"x", b"x")  # so that it knows the branch
    SEALS[end](stage)
    put(stage, b"a", b"1")
    assert put_if(late, b"2", is_now(b"1"))
    assert value(stage) == b"2"
