# SPDX-License-Identifier: Apache-2.0
"""Conditional writes that a seal makes write again, when others have built on the first time (H5).

Between any two of their store calls a commit takes what is staged, and somebody else comes to the
key: then nobody can tell any more whether the write was done, and it must not be done again.
"""

from contextlib import suppress

import pytest

from lochan.errors import InvalidInput
from lochan.model.ids import ObjectKey
from lochan.operations.branches import create_branch
from lochan.operations.compact import compact
from lochan.operations.conditions import Condition, if_absent, if_present
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.reference import commit_of
from lochan.operations.reset import reset_object
from lochan.pipelines.jobs.publish import fence
from support.branch_content import (
    again,
    committed_and_cleaned,
    content,
    delete,
    every_place,
    every_two_places,
    put,
    record,
)
from support.conditional_puts import (
    DEV,
    KEY,
    OURS,
    SEALS,
    Story,
    commits,
    deleted,
    is_now,
    nothing,
    of_another,
    one,
    one_committed,
    put_if,
    sealed,
    value,
)
from support.lakes import MAIN, Stage, open_stage

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
    for stage, harried in every_two_places(prepare, *stories):
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

    def rival(stage: Stage) -> None:
        theirs.append(increment(stage))

    stories = (rival, SEALS[end]) if is_first else (SEALS[end], rival)
    for stage, harried in every_two_places(before, *stories):
        done = [increment(harried), *theirs]
        theirs.clear()
        counted = int(value(stage) or b"")
        assert done.count(True) <= counted <= len(done), done


TURNS: dict[str, tuple[Story, Condition, Story, bytes | None]] = {
    "a number": (one_committed, is_now(b"0"), lambda s: put_if(s, b"0", is_now(OURS)), b"0"),
    "a number that is staged": (one, is_now(b"0"), lambda s: put_if(s, b"0", is_now(OURS)), b"0"),
    "nothing": (nothing, if_absent, deleted, None),
}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("end", SEALS)
@pytest.mark.parametrize("is_first", [True, False])
def test_rel_H5_what_another_has_turned_back_is_not_done_again(
    turn: str, end: str, *, is_first: bool
) -> None:
    """Only who has seen our write turns it back; so it was done, and must not be done again."""
    before, condition, act, expected = TURNS[turn]
    turned: list[bool] = []

    def turn_back(stage: Stage) -> None:
        if value(stage) == OURS:
            turned.append(bool(act(stage)))

    stories = (turn_back, SEALS[end]) if is_first else (SEALS[end], turn_back)
    times = 0
    for stage, harried in every_two_places(before, *stories):
        ours = put_if(harried, OURS, condition)
        if any(turned):
            assert ours is not False
            assert value(stage) == expected
            times += 1
        elif ours:
            assert value(stage) == OURS
        turned.clear()
    assert times


def merged(stage: Stage) -> None:
    """Merge a branch that brings another key alone."""
    source = commit_of(stage.lake, stage.repository, DEV)
    with suppress(InvalidInput):  # it is merged already
        merge(stage.lake, stage.repository, MAIN, source, MergeRequest("ada", allow_dirty=True))


def forked(prepare: Story) -> Story:
    def fork(stage: Stage) -> None:
        create_branch(stage.lake, stage.repository, DEV, record(stage).id)
        put(stage, b"y", b"y", DEV)
        record(stage, DEV)
        prepare(stage)

    return fork


CALM: dict[str, tuple[Story, bool]] = {  # what others do, and whether a whole commit goes by
    "seal": (sealed, False),
    "commit": (record, True),
    "commit and clean": (committed_and_cleaned, True),
    "compact": (lambda stage: compact(stage.lake, stage.repository, MAIN), True),
    "merge": (merged, True),
    "reset another key": (
        lambda stage: reset_object(stage.lake, stage.repository, MAIN, ObjectKey(b"x")),
        False,
    ),
    "take a job over": (lambda stage: fence(stage.lake, stage.repository, MAIN), False),
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("calm", CALM)
@pytest.mark.parametrize("times", [1, 2])
def test_rel_H5_a_write_that_nobody_disturbs_is_done_unless_a_commit_goes_by(
    before: str, calm: str, times: int
) -> None:
    """Then it may be told that nobody knows; it is there, or nothing has changed."""
    prepare, condition = BEFORE[before]
    act, goes_by = CALM[calm]
    shown = {"nothing": None}.get(before, b"0")

    def others(stage: Stage) -> None:
        for _ in range(times):
            of_another(stage)
            act(stage)

    answers: list[bool | None] = []
    for stage, harried in every_place(forked(prepare), others):
        answers.append(put_if(harried, OURS, condition))
        assert value(stage) == OURS or (answers[-1] is None and value(stage) == shown)
    assert set(answers) <= ({True, None} if goes_by else {True})
    assert answers.count(None) <= 3


@pytest.mark.parametrize("calm", CALM)
def test_rel_H5_what_was_there_before_as_it_is_written_is_no_reason_to_refuse(calm: str) -> None:
    """The commit keeps the record of the head, with another address (G8)."""

    def there_before(stage: Stage) -> None:
        put(stage, b"a", OURS)
        record(stage)
        delete(stage, b"a")

    def others(stage: Stage) -> None:
        of_another(stage)
        CALM[calm][0](stage)

    answers: list[bool | None] = []
    for stage, harried in every_place(forked(there_before), others):
        answers.append(put_if(harried, OURS, if_absent))
        assert value(stage) == OURS or answers[-1] is None
    assert set(answers) <= ({True, None} if CALM[calm][1] else {True})


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
