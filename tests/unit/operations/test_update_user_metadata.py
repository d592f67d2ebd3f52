# SPDX-License-Identifier: Apache-2.0
"""Metadata of an object is replaced, and nobody's write in between is undone."""

from contextlib import suppress

import pytest

from lochan.errors import NotFound
from lochan.model.ids import ObjectKey
from lochan.operations.read_object import stat_object
from lochan.operations.update_user_metadata import update_user_metadata
from support.branch_content import content, delete, every_place, put, record
from support.lakes import MAIN, Stage, open_stage

A = ObjectKey(b"a")


def update(stage: Stage) -> None:
    update_user_metadata(stage.lake, stage.repository, MAIN, A, {"k": "v"})


def metadata(stage: Stage) -> dict[str, str]:
    return dict(stat_object(stage.lake, stage.repository, MAIN, A).metadata)


@pytest.mark.parametrize("committed", [False, True])
def test_metadata_is_replaced_and_the_bytes_stay(*, committed: bool) -> None:
    stage = open_stage()
    put(stage, A, b"one")
    if committed:
        record(stage)
    before = stat_object(stage.lake, stage.repository, MAIN, A)
    update(stage)
    after = stat_object(stage.lake, stage.repository, MAIN, A)
    assert after.metadata == {"k": "v"}
    assert (after.address, after.last_modified) == (before.address, before.last_modified)


def test_what_is_not_there_has_no_metadata() -> None:
    stage = open_stage()
    with pytest.raises(NotFound):
        update(stage)
    assert content(stage) == {}


def prepare(stage: Stage) -> None:
    put(stage, A, b"one")


def test_rel_H5_a_write_at_any_moment_is_never_undone() -> None:
    seen = []
    for calm, watched in every_place(prepare, lambda stage: put(stage, A, b"two")):
        update(watched)
        seen.append(content(calm)[A])
    assert set(seen[:-1]) == {b"two"}  # the last is of nobody's interference
    assert len(seen) > 3


def test_rel_H5_a_delete_at_any_moment_is_never_undone() -> None:
    seen = []
    for calm, watched in every_place(prepare, lambda stage: delete(stage, A)):
        with suppress(NotFound):
            update(watched)
        seen.append(content(calm))
    assert seen[:-1] == [{}] * (len(seen) - 1)
    assert len(seen) > 3
