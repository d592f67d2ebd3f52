# SPDX-License-Identifier: Apache-2.0
"""Renames of one object beside others who come to its old key, or to its new one."""

from contextlib import suppress

from lochan.errors import Conflict, InvalidInput, NotFound, PredicateFailed, Refused
from lochan.model.ids import ObjectKey
from lochan.operations.conditions import if_absent
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.rename_object import rename_object
from lochan.operations.transplant import TransplantRequest, revert
from support.branch_content import content, delete, every_place, every_two_places, put, record
from support.conditional_puts import sealed
from support.lakes import MAIN, Stage

A, B = ObjectKey(b"a"), ObjectKey(b"b")


def rename(stage: Stage, *, overwrite: bool = False) -> None:
    rename_object(stage.lake, stage.repository, MAIN, A, B, overwrite=overwrite)


def test_an_equal_object_that_comes_to_the_old_key_meanwhile_stays() -> None:
    """Somebody copies the new one back: it differs from what was found in nothing but its time."""
    came: list[bool] = []

    def copy_back(stage: Stage) -> None:
        if B in content(stage):
            copy_object(stage.lake, stage.repository, MAIN, A, Source(MAIN, B))
            came.append(True)

    def copy_where_nothing_is(stage: Stage) -> None:
        with suppress(NotFound, PredicateFailed):
            copy_object(stage.lake, stage.repository, MAIN, A, Source(MAIN, B), condition=if_absent)
            came.append(True)

    times = 0
    for stages in (
        every_place(lambda stage: put(stage, A, b"one"), copy_back),
        every_two_places(lambda stage: put(stage, A, b"one"), sealed, copy_where_nothing_is),
    ):
        for stage, harried in stages:
            with suppress(Conflict):
                rename(harried)
            if came:
                assert content(stage)[A] == b"one"
                times += 1
            came.clear()
    assert times > 10


def test_what_a_revert_brings_back_to_the_old_key_stays() -> None:
    def prepare(stage: Stage) -> None:
        put(stage, A, b"one")
        record(stage)

    reverted: list[bool] = []

    def undo(stage: Stage) -> None:
        if A in content(stage):
            return
        head = record(stage)
        with suppress(Refused, InvalidInput, Conflict):
            request = TransplantRequest("ada", "undone")
            revert(stage.lake, stage.repository, MAIN, head, request)
            reverted.append(A in content(stage))

    times = 0
    for stage, harried in every_two_places(prepare, record, undo):
        with suppress(Conflict):
            rename(harried)
        if any(reverted):
            assert A in content(stage)
            times += 1
        reverted.clear()
    assert times


def test_an_object_that_was_uploaded_again_as_it_was_is_renamed_beside_commits() -> None:
    """A commit keeps the record of before for equal content, with another time and address."""

    def prepare(stage: Stage) -> None:
        put(stage, A, b"one")
        record(stage)
        put(stage, A, b"one")

    def commit_another(stage: Stage) -> None:
        put(stage, b"x", b"x")
        record(stage)

    done = 0
    for stage, harried in every_place(prepare, commit_another):
        try:
            rename(harried)
        except Conflict:  # a whole commit went by while the new key was written
            continue
        assert content(stage) in ({B: b"one"}, {B: b"one", b"x": b"x"})
        done += 1
    assert done > 20


def test_a_copy_that_is_deleted_and_put_anew_leaves_no_object_under_both_keys() -> None:
    def put_anew(stage: Stage) -> None:
        if B not in content(stage):
            put(stage, B, b"new")

    for stage, harried in every_two_places(
        lambda stage: put(stage, A, b"one"), lambda stage: delete(stage, B), put_anew
    ):
        done = False
        with suppress(Conflict):
            rename(harried, overwrite=True)
            done = True
        assert not done or A not in content(stage)
