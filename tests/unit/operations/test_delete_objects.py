# SPDX-License-Identifier: Apache-2.0
"""Deletion of many keys, and of a prefix."""

import pytest

from lochan.faults import Fault
from lochan.model.ids import ObjectKey
from lochan.operations import delete_objects as deletion
from lochan.operations.delete_objects import delete_objects, delete_prefix
from support.branch_content import FAULTS, content, delete, fail_each_call, put, record
from support.lakes import MAIN, Stage, open_stage


def prepare(stage: Stage) -> None:
    for key in (b"a", b"b/1", b"b/2"):
        put(stage, key, key)
    record(stage)
    delete(stage, b"b/2")
    for key in (b"b/3", b"c"):
        put(stage, key, key)


def test_a_prefix_is_deleted_with_what_is_staged_and_committed() -> None:
    stage = open_stage()
    prepare(stage)
    assert delete_prefix(stage.lake, stage.repository, MAIN, b"b/") == 2
    assert set(content(stage)) == {b"a", b"c"}
    assert delete_prefix(stage.lake, stage.repository, MAIN, b"b/") == 0


def test_many_keys_are_deleted_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "AT_ONCE", 2)
    stage = open_stage()
    names = [b"%d" % number for number in range(5)]
    for name in names:
        put(stage, name, b"x")
    assert delete_prefix(stage.lake, stage.repository, MAIN, b"") == 5
    for name in names:
        put(stage, name, b"x")
    delete_objects(stage.lake, stage.repository, MAIN, map(ObjectKey, names))
    assert content(stage) == {}


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H4_a_deletion_that_was_answered_has_happened(fault: Fault) -> None:
    def check(stage: Stage, answered: bool) -> None:  # noqa: FBT001 - told by fail_each_call
        kept = set(content(stage))
        assert {b"a", b"c"} <= kept
        assert kept == {b"a", b"c"} or not answered

    act = lambda stage: delete_prefix(stage.lake, stage.repository, MAIN, b"b/")  # noqa: E731
    assert fail_each_call(fault, prepare, act, check) > 5
