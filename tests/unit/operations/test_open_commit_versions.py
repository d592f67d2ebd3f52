# SPDX-License-Identifier: Apache-2.0
"""Versions that do not go on from each other, and history that parted more than once.

A revert, an older version that is put back, a merge that prefers one side: a file may have fewer
blocks than before, or others. And what a target has may have come to it by more than one way.
"""

import hashlib

import pytest

from lochan.errors import NotFound
from lochan.model.diff import Append, Diff
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.diffs import diffs
from lochan.operations.put_object import put_object
from lochan.operations.transplant import TransplantRequest, revert
from support.open_commits import DELETE, Desk

both_ways = pytest.mark.parametrize("squash", [True, False])


@pytest.fixture
def desk() -> Desk:
    return Desk()


def undo(desk: Desk, undone: Commit, branch: str) -> Commit:
    return revert(*desk.where, BranchName(branch), undone, TransplantRequest("ada"))


def join(desk: Desk, branch: str, source: Commit, strategy: str = "") -> Commit:
    return merge(*desk.where, BranchName(branch), source, MergeRequest("ada", strategy=strategy))


def fork(desk: Desk, branch: str, at: Commit) -> None:
    create_branch(*desk.where, BranchName(branch), at.id)


def ref(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def row(desk: Desk, made: Commit) -> Diff:
    return next(iter(diffs(*desk.where, made.id, "f")))


@both_ways
def test_pach_M4_what_a_source_has_reverted_does_not_come(desk: Desk, *, squash: bool) -> None:
    desk.commit(branch="side", f=b"0")
    bad = desk.commit(branch="side", f=b"BAD")
    made = desk.merge(undo(desk, bad, "side"), branch="main", squash=squash)
    assert desk.files(made[-1]) == {"f": b"0"}


@both_ways
def test_what_a_source_has_reverted_goes_from_the_target_and_what_came_since_stays(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"0")
    bad = desk.commit(branch="main", f=b"BAD")
    fork(desk, "side", bad)
    desk.commit(branch="main", f=b"m")
    undo(desk, bad, "side")
    side = desk.commit(branch="side", f=b"s")
    made = desk.merge(side, branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"0ms"


@both_ways
def test_a_revert_brings_nothing_to_a_target_that_has_deleted_the_file(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"0")
    bad = desk.commit(branch="main", f=b"BAD")
    fork(desk, "side", bad)
    desk.commit(branch="main", f=DELETE)
    made = desk.merge(undo(desk, bad, "side"), branch="main", squash=squash)
    assert desk.files(made[-1]) == {}


@both_ways
def test_pach_M4_pach_M5_sources_that_revert_the_same_leave_what_was_before_it_once(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"0")
    bad = desk.commit(branch="main", f=b"BAD")
    sides = []
    for name in ("one", "two"):
        fork(desk, name, bad)
        undo(desk, bad, name)
        sides.append(desk.commit(branch=name, f=name.encode()))
    made = desk.merge(*sides, branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"0onetwo"


@pytest.mark.parametrize("whole", [True, False])
def test_pach_M4_sources_that_bring_back_the_same_file_bring_it_once(
    desk: Desk, *, whole: bool
) -> None:
    if whole:
        put_object(*desk.where, BranchName("main"), ObjectKey(b"f"), b"01")
        commit(*desk.where, BranchName("main"), CommitRequest("ada"))
    else:
        desk.commit(branch="main", f=b"0")
        desk.commit(branch="main", f=b"1")
    gone = desk.commit(branch="main", f=DELETE)
    sides = []
    for name in ("one", "two"):
        fork(desk, name, gone)
        undo(desk, gone, name)
        sides.append(desk.commit(branch=name, g=name.encode()))
    (made,) = desk.merge(*sides, branch="main", squash=True)
    assert desk.files(made) == {"f": b"01", "g": b"onetwo"}


@both_ways
def test_pach_M4_a_file_that_both_sides_brought_back_lacks_only_what_is_new(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", f=b"0")
    gone = desk.commit(branch="main", f=DELETE)
    fork(desk, "side", gone)
    for name in ("main", "side"):
        undo(desk, gone, name)
        desk.commit(branch=name, f=name.encode())
    made = desk.merge(desk.head("side"), branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"0mainside"


@both_ways
def test_an_object_that_is_whole_again_leaves_what_others_appended(
    desk: Desk, *, squash: bool
) -> None:
    put_object(*desk.where, BranchName("main"), ObjectKey(b"f"), b"w")
    commit(*desk.where, BranchName("main"), CommitRequest("ada"))
    bad = desk.commit(branch="main", f=b"BAD")
    fork(desk, "side", bad)
    desk.commit(branch="main", f=b"m")
    made = desk.merge(undo(desk, bad, "side"), branch="main", squash=squash)
    assert desk.read("f", made[-1]) == b"wm"


@both_ways
@pytest.mark.parametrize(("strategy", "content"), [("dest-wins", b"0ts"), ("source-wins", b"0mt")])
def test_what_a_merge_of_the_source_decided_against_does_not_come_back(
    desk: Desk, strategy: str, content: bytes, *, squash: bool
) -> None:
    base = desk.commit(branch="main", f=b"0")
    desk.commit(parent=base.id, branch="side", f=b"s")
    ours = desk.commit(branch="main", f=b"m")
    side = join(desk, "side", ours, strategy)
    desk.commit(branch="main", f=b"t")
    made = desk.merge(side, branch="main", squash=squash)
    assert desk.read("f", made[-1]) == content


@both_ways
def test_a_file_that_a_merge_of_the_source_gave_up_does_not_come_back(
    desk: Desk, *, squash: bool
) -> None:
    base = desk.commit(branch="main", f=b"0")
    desk.commit(parent=base.id, branch="side", f=b"s")
    side = join(desk, "side", desk.commit(branch="main", f=DELETE), "source-wins")
    made = desk.merge(side, branch="main", squash=squash)
    assert desk.files(made[-1]) == {}


def test_a_file_that_one_source_deletes_and_another_takes_blocks_from_is_gone(desk: Desk) -> None:
    desk.commit(branch="main", f=b"0")
    bad = desk.commit(branch="main", f=b"BAD")
    fork(desk, "side", bad)
    deleting = desk.commit(parent=bad.id, branch="other", f=DELETE)
    (made,) = desk.merge(undo(desk, bad, "side"), deleting, branch="main", squash=True)
    assert desk.files(made) == {}


def test_pach_S8_pach_S12_a_file_that_lost_blocks_is_deleted_and_appended_whole(desk: Desk) -> None:
    desk.commit(branch="main", f=b"one")
    bad = desk.commit(branch="main", f=b"BAD")
    found = row(desk, undo(desk, bad, "main"))
    assert found.delete
    assert found.appends == (Append(delete=True), Append(blockrefs=(ref(b"one"),)))
    assert found.size == 3


def test_pach_S8_a_file_that_took_another_way_is_deleted_and_appended_whole(desk: Desk) -> None:
    base = desk.commit(branch="main", f=b"0")
    side = desk.commit(parent=base.id, branch="side", f=b"s")
    desk.commit(branch="main", f=b"m")
    found = row(desk, join(desk, "main", side, "source-wins"))
    assert found.appends == (Append(delete=True), Append(blockrefs=(ref(b"0"), ref(b"s"))))


def test_pach_I2_all_of_a_file_came_since_a_version_that_it_does_not_go_on_from(
    desk: Desk,
) -> None:
    first = desk.commit(branch="main", f=b"one")
    bad = desk.commit(branch="main", f=b"BAD")
    undone = undo(desk, bad, "main")
    last = desk.commit(branch="main", f=b"two")
    assert desk.read("f", undone, bad) == b"one"
    assert desk.read("f", last, bad) == b"onetwo"
    assert desk.read("f", last, first) == b"two"
    with pytest.raises(NotFound):
        desk.read("f", undone, first)


def test_pach_H6_pach_I3_nothing_came_to_a_file_up_to_a_commit_that_is_behind_from(
    desk: Desk,
) -> None:
    first = desk.commit(branch="main", f=b"one")
    for later in (desk.commit(branch="main", f=b"two"), desk.commit(branch="main", f=DELETE)):
        with pytest.raises(NotFound):
            desk.read("f", first, later)


def criss_cross(desk: Desk) -> tuple[Commit, Commit]:
    """Two branches that changed a file each and then merged each other's change."""
    base = desk.commit(branch="main", g=b"0", h=b"0")
    fork(desk, "dev", base)
    ours, theirs = desk.commit(branch="main", g=b"m"), desk.commit(branch="dev", h=b"d")
    join(desk, "main", theirs)
    join(desk, "dev", ours)
    return ours, theirs


@both_ways
def test_pach_M4_what_came_by_either_way_of_a_criss_cross_is_not_applied_again(
    desk: Desk, *, squash: bool
) -> None:
    criss_cross(desk)
    dev = desk.commit(branch="dev", g=b"1", h=b"2", k=b"3")
    made = desk.merge(dev, branch="main", squash=squash)
    assert desk.files(made[-1]) == {"g": b"0m1", "h": b"0d2", "k": b"3"}


@both_ways
def test_what_was_reverted_after_a_criss_cross_goes_from_the_target(
    desk: Desk, *, squash: bool
) -> None:
    ours, theirs = criss_cross(desk)
    undo(desk, ours, "dev")
    dev = undo(desk, theirs, "dev")
    desk.commit(branch="main", g=b"1", h=b"2")
    made = desk.merge(dev, branch="main", squash=squash)
    assert desk.files(made[-1]) == {"g": b"01", "h": b"02"}


@both_ways
def test_what_was_reverted_before_a_criss_cross_takes_nothing_from_the_target(
    desk: Desk, *, squash: bool
) -> None:
    desk.commit(branch="main", g=b"0")
    bad = desk.commit(branch="main", g=b"BAD")
    fork(desk, "dev", bad)
    ours, theirs = undo(desk, bad, "main"), desk.commit(branch="dev", h=b"d")
    join(desk, "main", theirs)
    join(desk, "dev", ours)
    desk.commit(branch="main", g=b"1")
    dev = desk.commit(branch="dev", k=b"2")
    made = desk.merge(dev, branch="main", squash=squash)
    assert desk.files(made[-1]) == {"g": b"01", "h": b"d", "k": b"2"}


@both_ways
def test_pach_M4_a_source_that_merged_another_and_the_target_brings_its_own_alone(
    desk: Desk, *, squash: bool
) -> None:
    base = desk.commit(branch="main", f=b"0", g=b"0", h=b"0")
    for name in ("one", "two"):
        fork(desk, name, base)
    join(desk, "two", desk.commit(branch="main", f=b"m"))
    join(desk, "two", desk.commit(branch="one", g=b"1"))
    one, two = desk.commit(branch="one", g=b"1+"), desk.commit(branch="two", h=b"2")
    made = desk.merge(one, two, branch="main", squash=squash)
    assert desk.files(made[-1]) == {"f": b"0m", "g": b"011+", "h": b"02"}


@both_ways
def test_pach_M4_a_merge_that_brings_the_targets_blocks_with_others_brings_the_others_alone(
    desk: Desk, *, squash: bool
) -> None:
    base = desk.commit(branch="main", f=b"0")
    fork(desk, "side", base)
    desk.commit(branch="side", g=b"s")
    fork(desk, "other", desk.commit(branch="main", f=b"m"))
    side = join(desk, "side", desk.commit(branch="other", f=b"o"))
    desk.commit(branch="main", f=b"t")
    made = desk.merge(side, branch="main", squash=squash)
    assert desk.files(made[-1]) == {"f": b"0mto", "g": b"s"}


@pytest.mark.parametrize("merger_first", [True, False])
@both_ways
def test_pach_M4_a_source_that_another_one_has_merged_comes_once(
    desk: Desk, *, merger_first: bool, squash: bool
) -> None:
    base = desk.commit(branch="main", f=b"0")
    for name in ("one", "two"):
        fork(desk, name, base)
    desk.commit(branch="two", g=b"2")
    merged = desk.commit(branch="one", f=b"1")
    two = join(desk, "two", merged)
    one = desk.commit(branch="one", f=b"1+")
    sources = (two, one) if merger_first else (one, two)
    made = desk.merge(*sources, branch="main", squash=squash)
    assert desk.files(made[-1]) == {"f": b"011+", "g": b"2"}
