# SPDX-License-Identifier: Apache-2.0
"""Several sources beside each other, and equal blocks: what comes, what goes, and which one."""

import pytest

from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.put_object import put_object
from lochan.operations.transplant import TransplantRequest, revert
from support.open_commits import DELETE, Desk

both_ways = pytest.mark.parametrize("squash", [True, False])
either_first = pytest.mark.parametrize("backwards", [True, False])


@pytest.fixture
def desk() -> Desk:
    return Desk()


def undo(desk: Desk, undone: Commit, branch: str) -> Commit:
    return revert(*desk.where, BranchName(branch), undone, TransplantRequest("ada"))


def fork(desk: Desk, at: Commit, *branches: str) -> None:
    for branch in branches:
        create_branch(*desk.where, BranchName(branch), at.id)


def whole(desk: Desk, branch: str, body: bytes) -> Commit:
    put_object(*desk.where, BranchName(branch), ObjectKey(b"f"), body)
    return commit(*desk.where, BranchName(branch), CommitRequest("ada"))


@both_ways
def test_pach_M4_of_equal_blocks_that_goes_which_stood_where_the_source_parted(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"x")
    equal = desk.commit(branch="main", f=b"a")
    fork(desk, equal, "side")
    desk.commit(branch="main", f=b"c")
    desk.commit(branch="main", f=b"a")
    made = desk.merge(undo(desk, equal, "side"), branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"xca"


@both_ways
def test_pach_M4_what_the_target_and_all_sources_brought_back_comes_once(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"A")
    grown = desk.commit(branch="main", f=b"B")
    gone = desk.commit(branch="main", f=DELETE)
    fork(desk, gone, "one", "two")
    one, two = undo(desk, gone, "one"), undo(desk, gone, "two")
    undo(desk, gone, "main")
    undo(desk, grown, "main")
    made = desk.merge(one, two, branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"AB"


@either_first
@both_ways
def test_pach_M4_a_file_that_is_whole_in_one_source_and_goes_on_in_another_is_brought_once(
    desk: Desk, *, squash: bool, backwards: bool
) -> None:
    whole(desk, "main", b"A")
    gone = desk.commit(branch="main", f=DELETE)
    fork(desk, gone, "one", "two")
    one = undo(desk, gone, "one")
    undo(desk, gone, "two")
    two = desk.commit(branch="two", f=b"B")
    made = desk.merge(*((two, one) if backwards else (one, two)), branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"AB"


@both_ways
def test_an_append_that_is_taken_back_brings_no_empty_file_to_who_has_deleted_it(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"")
    grown = desk.commit(branch="main", f=b"a")
    fork(desk, grown, "side")
    desk.commit(branch="main", f=DELETE)
    made = desk.merge(undo(desk, grown, "side"), branch="main", squash=squash)
    assert desk.files(made[-1]) == {}


@both_ways
def test_an_append_that_is_taken_back_leaves_the_file_empty_as_it_was(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"")
    grown = desk.commit(branch="main", f=b"a")
    fork(desk, grown, "side")
    desk.commit(branch="main", g=b"m")
    made = desk.merge(undo(desk, grown, "side"), branch="main", squash=squash)
    assert desk.files(made[-1]) == {"f": b"", "g": b"m"}


@either_first
@both_ways
def test_pach_M4_what_a_source_took_away_does_not_come_by_another_one_that_has_it_from_there(
    desk: Desk, *, squash: bool, backwards: bool
) -> None:
    base = desk.commit(branch="main", f=b"x")
    fork(desk, base, "one")
    taken = desk.commit(branch="one", f=b"a")
    fork(desk, taken, "two")
    one, two = undo(desk, taken, "one"), desk.commit(branch="two", f=b"b")
    made = desk.merge(*((two, one) if backwards else (one, two)), branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"xb"


@either_first
def test_pach_M4_a_file_that_a_source_deleted_does_not_come_by_another_one_that_has_it_from_there(
    desk: Desk, *, backwards: bool
) -> None:
    base = desk.commit(branch="main", g=b"0")
    fork(desk, base, "one")
    fork(desk, desk.commit(branch="one", f=b"a"), "two")
    one, two = desk.commit(branch="one", f=DELETE), desk.commit(branch="two", f=b"b")
    sources = (two, one) if backwards else (one, two)
    (made,) = desk.merge(*sources, branch="main", squash=True)
    assert desk.files(made) == {"g": b"0", "f": b"b"}


@either_first
def test_a_file_that_a_source_decided_against_goes_and_not_the_targets_own(
    desk: Desk, *, backwards: bool
) -> None:
    fork(desk, desk.commit(branch="main", f=b"0"), "one", "two")
    one = desk.commit(branch="one", g=b"1")
    desk.commit(branch="two", g=b"2")
    two = merge(*desk.where, BranchName("two"), one, MergeRequest("ada", strategy="dest-wins"))
    one = desk.commit(branch="one", f=b"1")
    desk.commit(branch="main", g=b"m")
    (made,) = desk.merge(*((two, one) if backwards else (one, two)), branch="main", squash=True)
    assert desk.files(made) == {"f": b"01", "g": b"m2"}
