# SPDX-License-Identifier: Apache-2.0
"""Renames of one object: it moves alone, its bytes stay, and it is never out of reach."""

from itertools import count

import pytest

from lochan.errors import AlreadyExists, Conflict, InvalidInput, NotFound
from lochan.faults import Fault
from lochan.kv.faulty import Call, Faulty
from lochan.kv.store import Present
from lochan.model.ids import BranchName, ObjectKey, StagingToken
from lochan.model.records import Repository, StagedEntry
from lochan.operations.branches import create_branch
from lochan.operations.conditions import Condition
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.read_object import stat_object
from lochan.operations.rename_object import rename_object
from lochan.operations.reset import reset
from lochan.operations.seal import seal
from lochan.operations.stage_if import stage_if
from lochan.refs.copy_log import logged_copies
from lochan.staging.area import StagingArea
from support.branch_content import (
    FAULTS,
    content,
    delete,
    fail_each_call,
    interrupted,
    put,
    record,
)
from support.lakes import MAIN, Stage, open_stage

A, B = ObjectKey(b"a"), ObjectKey(b"b")


def rename(stage: Stage, *, overwrite: bool = False) -> None:
    rename_object(stage.lake, stage.repository, MAIN, A, B, overwrite=overwrite)


def test_rel_H19_an_object_moves_by_reference_and_its_address_is_logged() -> None:
    stage = open_stage()
    put(stage, A, b"one")
    put(stage, b"ab", b"other")
    before = stat_object(stage.lake, stage.repository, MAIN, A)
    rename(stage)
    assert content(stage) == {b"ab": b"other", B: b"one"}
    assert stat_object(stage.lake, stage.repository, MAIN, B).address == before.address
    notes = logged_copies(stage.lake.store, stage.repository)
    assert before.address in {address for note in notes for address in note.addresses}


def test_what_cannot_be_renamed_stays() -> None:
    stage = open_stage()
    with pytest.raises(NotFound):
        rename(stage)
    put(stage, A, b"one")
    put(stage, B, b"two")
    with pytest.raises(AlreadyExists):
        rename(stage)
    with pytest.raises(InvalidInput):
        rename_object(stage.lake, stage.repository, MAIN, A, A)
    assert content(stage) == {A: b"one", B: b"two"}
    rename(stage, overwrite=True)
    assert content(stage) == {B: b"one"}


@pytest.mark.parametrize("fault", FAULTS)
def test_whatever_fails_the_object_is_under_one_key_or_the_other(fault: Fault) -> None:
    def prepare(stage: Stage) -> None:
        put(stage, A, b"one")

    def look(stage: Stage, answered: bool) -> None:  # noqa: FBT001 - as it is called
        assert content(stage) in ({A: b"one"}, {B: b"one"}, {A: b"one", B: b"one"})
        assert not answered or content(stage) == {B: b"one"}
        if A in content(stage):
            rename(stage, overwrite=True)
        assert content(stage) == {B: b"one"}

    assert fail_each_call(fault, prepare, rename, look) > 8


@pytest.mark.parametrize("moment", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
def test_what_is_written_to_the_old_key_meanwhile_is_never_lost(moment: int) -> None:
    stage = open_stage()
    put(stage, A, b"one")
    met = 0

    def write_then(_: Call) -> Fault:
        nonlocal met
        met += 1
        if met == moment:
            put(stage, A, b"two")
        return Fault.OK

    watched = Faulty(stage.lake.store, write_then, stage.lake.environment)
    lake = Lake.of(watched, stage.lake.environment, lambda _: stage.storage)
    rename_object(lake, stage.repository, MAIN, A, B)
    assert met >= moment
    assert content(stage) in ({B: b"two"}, {A: b"two", B: b"one"})


@pytest.mark.parametrize("sealed", [False, True])
def test_a_reset_at_any_moment_loses_no_committed_object(*, sealed: bool) -> None:
    """The copy is forgotten, and then the committed object must not be hidden."""
    refused = 0
    for number in count(1):
        stage = open_stage()
        put(stage, A, b"one")
        record(stage)

        def forget(stage: Stage = stage) -> None:
            if sealed:
                seal(stage.lake, stage.repository, MAIN)
            reset(stage.lake, stage.repository, MAIN)

        interfered, store = interrupted(stage, number, forget)
        try:
            rename(interfered)
        except Conflict as error:
            refused += error.code == "rename-overtaken"
        assert content(stage) in ({A: b"one"}, {B: b"one"})
        record(stage)
        assert content(stage) in ({A: b"one"}, {B: b"one"})
        if store.calls < number:
            break
    assert refused > 2


def test_a_copy_that_somebody_deletes_meanwhile_takes_the_object_not_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = open_stage()
    put(stage, A, b"one")

    def stage_late(
        lake: Lake,
        repository: Repository,
        branch: BranchName,
        staged: StagedEntry,
        condition: Condition,
    ) -> None:
        delete(stage, B)
        stage_if(lake, repository, branch, staged, condition)

    monkeypatch.setattr("lochan.operations.rename_object.stage_if", stage_late)
    with pytest.raises(Conflict):
        rename(stage)
    assert content(stage) == {A: b"one"}


def test_a_deletion_stays_that_came_between_a_merge_and_the_end_of_a_rename(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The merge replaces the source, so the rename takes its tombstone back, and no other."""
    stage = open_stage()
    put(stage, A, b"one")
    dev = BranchName("dev")
    create_branch(stage.lake, stage.repository, dev, record(stage).id)
    put(stage, A, b"two", dev)
    source = record(stage, dev)
    set_if = StagingArea.set_if

    def late(
        area: StagingArea, token: StagingToken, entry: StagedEntry, predicate: Present | None
    ) -> None:
        if entry.is_tombstone:
            monkeypatch.undo()
            request = MergeRequest("ada", allow_dirty=True)
            merge(stage.lake, stage.repository, MAIN, source, request)
            set_if(area, token, entry, predicate)
            delete(stage, A)
        else:
            set_if(area, token, entry, predicate)

    monkeypatch.setattr(StagingArea, "set_if", late)
    rename(stage)
    assert content(stage) == {B: b"one"}
