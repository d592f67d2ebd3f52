# SPDX-License-Identifier: Apache-2.0
"""Renames of a prefix: what moves, what is refused, and that nothing is ever out of reach."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.errors import AlreadyExists, InvalidInput, Refused
from lochan.faults import Fault
from lochan.model.ids import ObjectKey
from lochan.model.records import BlockedAction, BranchProtectionRule
from lochan.operations import rename_prefix as renaming
from lochan.operations.copy_object import Source, copy_object
from lochan.operations.delete_objects import delete_prefix
from lochan.operations.lake import Lake
from lochan.operations.link_object import new_address
from lochan.operations.rename_prefix import rename_prefix
from lochan.refs.copy_log import logged_copies
from lochan.refs.tables import repositories
from support.branch_content import (
    FAULTS,
    WORLD,
    committed_and_cleaned,
    content,
    delete,
    every_place,
    fail_each_call,
    put,
    record,
    records,
)
from support.lakes import MAIN, Stage, open_stage


def rename(stage: Stage, source: bytes, destination: bytes, *, overwrite: bool = False) -> int:
    where = (stage.lake, stage.repository, MAIN)
    return rename_prefix(*where, source, destination, overwrite=overwrite)


def prepare(stage: Stage) -> None:
    """Show a/1 committed, a/3 staged, and not a/2, which was deleted."""
    for key in (b"a/1", b"a/2", b"x"):
        put(stage, key, key)
    record(stage)
    delete(stage, b"a/2")
    put(stage, b"a/3", b"a/3")


def test_staged_and_committed_keys_move_and_no_object_does() -> None:
    stage = open_stage()
    prepare(stage)
    objects = stage.storage.objects.list("data/").entries
    before = {row.key: (row.identity, row.value) for row in records(stage, prefix=b"a/")}

    assert rename(stage, b"a/", b"b/c/") == 2
    assert content(stage) == {b"b/c/1": b"a/1", b"b/c/3": b"a/3", b"x": b"x"}
    after = {row.key: (row.identity, row.value) for row in records(stage, prefix=b"b/")}
    assert sorted(after.values()) == sorted(before.values())
    assert stage.storage.objects.list("data/").entries == objects
    assert content(stage, record(stage).id) == content(stage)


def test_nothing_under_the_source_is_nothing_moved() -> None:
    stage = open_stage()
    assert rename(stage, b"a/", b"b/") == 0


@pytest.mark.parametrize(
    ("source", "destination"), [(b"a", b"a/b"), (b"a/b", b"a"), (b"", b"b"), (b"a", b"a")]
)
def test_prefixes_that_overlap_are_refused(source: bytes, destination: bytes) -> None:
    stage = open_stage()
    prepare(stage)
    with pytest.raises(InvalidInput, match="overlap"):
        rename(stage, source, destination)


def test_a_destination_that_exists_is_overwritten_only_where_it_is_said() -> None:
    stage = open_stage()
    prepare(stage)
    put(stage, b"b/1", b"old")
    put(stage, b"b/9", b"kept")
    with pytest.raises(AlreadyExists, match="there are objects under b'b/'"):
        rename(stage, b"a/", b"b/")
    assert rename(stage, b"a/", b"b/", overwrite=True) == 2
    assert content(stage) == {b"b/1": b"a/1", b"b/3": b"a/3", b"b/9": b"kept", b"x": b"x"}


def test_a_key_that_would_be_too_long_is_refused_before_anything_moves() -> None:
    stage = open_stage()
    for key in (b"a/1", b"a/" + b"k" * 1020):
        put(stage, key, key)
    before = content(stage)
    with pytest.raises(InvalidInput, match="longer than 1024 bytes"):
        rename(stage, b"a/", b"longer/")
    assert content(stage) == before


@settings(max_examples=40, deadline=None)
@given(
    st.sets(st.text("ab/", min_size=1, max_size=4).map(str.encode), max_size=12), st.integers(1, 4)
)
def test_a_rename_equals_that_of_a_dictionary(names: set[bytes], at_once: int) -> None:
    stage = open_stage()
    for number, name in enumerate(sorted(names)):
        put(stage, name, name)
        if number == len(names) // 2:
            record(stage)
    kept, renaming.AT_ONCE = renaming.AT_ONCE, at_once
    try:
        rename(stage, b"a", b"c/")
    finally:
        renaming.AT_ONCE = kept
    moved = {b"c/" + name[1:] if name.startswith(b"a") else name: name for name in names}
    assert content(stage) == moved


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_G7_no_failure_loses_an_object_and_a_second_run_ends_the_rename(fault: Fault) -> None:
    def check(stage: Stage, answered: bool) -> None:  # noqa: FBT001 - told by fail_each_call
        shown = content(stage)
        assert {shown.get(b"a/1"), shown.get(b"b/1")} >= {b"a/1"}
        assert {shown.get(b"a/3"), shown.get(b"b/3")} >= {b"a/3"}
        done = {b"b/1": b"a/1", b"b/3": b"a/3", b"x": b"x"}
        assert shown == done or not answered
        rename(stage, b"a/", b"b/", overwrite=True)
        assert content(stage) == done

    assert fail_each_call(fault, prepare, lambda stage: rename(stage, b"a/", b"b/"), check) > 8


def test_every_object_is_in_reach_before_every_step() -> None:
    def look(stage: Stage) -> None:
        assert set(content(stage).values()) == {b"a/1", b"a/3", b"x"}

    for _, watched in every_place(prepare, look):
        rename(watched, b"a/", b"b/")


def test_a_commit_between_any_two_steps_undoes_nothing() -> None:
    for stage, harried in every_place(prepare, committed_and_cleaned):
        rename(harried, b"a/", b"b/")
        assert content(stage) == {b"b/1": b"a/1", b"b/3": b"a/3", b"x": b"x"}


def test_rel_H19_every_address_is_logged_before_it_has_a_second_entry() -> None:
    stage = open_stage()
    prepare(stage)
    rename(stage, b"a/", b"b/")
    notes = list(logged_copies(stage.lake.store, stage.repository))
    logged = {address for note in notes for address in note.addresses}
    assert len(logged) == 2
    assert all(
        any(name.encode() in row.value for name in logged) for row in records(stage, prefix=b"b/")
    )


def test_a_protected_branch_is_refused_before_anything_is_written() -> None:
    stage = open_stage()
    prepare(stage)
    rule = BranchProtectionRule(pattern="ma*", blocked_actions=(BlockedAction.STAGING_WRITE,))
    guarded = msgspec.structs.replace(stage.repository, branch_protection=(rule,))
    repositories(stage.lake.store).set(stage.repository.repository_id.encode(), guarded)
    shown, objects = content(stage), stage.storage.objects.list("data/").entries
    where = (Lake.of(stage.lake.store, WORLD, stage.lake.storage), guarded, MAIN)
    for write in (
        lambda: rename_prefix(*where, b"a/", b"b/"),
        lambda: copy_object(*where, ObjectKey(b"c"), Source("main~", ObjectKey(b"a/1"))),
        lambda: new_address(*where, ObjectKey(b"c")),
        lambda: delete_prefix(*where, b"a/"),
    ):
        with pytest.raises(Refused, match="protected branch 'main'"):
            write()
    assert (content(stage), stage.storage.objects.list("data/").entries) == (shown, objects)
    assert list(logged_copies(stage.lake.store, stage.repository)) == []
