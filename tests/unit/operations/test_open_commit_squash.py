# SPDX-License-Identifier: Apache-2.0
"""Several sources beside each other, and equal blocks: what comes, what goes, and which one."""

from itertools import permutations

import pytest

from lochan.model.codec import decode_entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.open_commits.put_file import Mode
from lochan.operations.put_object import put_object
from lochan.operations.transplant import TransplantRequest, revert
from lochan.operations.update_user_metadata import update_user_metadata
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


def anew(desk: Desk, branch: str, body: bytes) -> Commit:
    opened = desk.start(branch=branch)
    desk.put(opened, "f", body, Mode.OVERWRITE)
    return desk.finish(opened)


def say(desk: Desk, branch: str, **said: str) -> Commit:
    update_user_metadata(*desk.where, BranchName(branch), ObjectKey(b"f"), said)
    return commit(*desk.where, BranchName(branch), CommitRequest("ada"))


def said_of(desk: Desk, made: Commit) -> dict[str, str]:
    value = desk.stage.storage.snapshots.get(made.meta_range_id, ObjectKey(b"f"))
    assert value is not None
    return dict(decode_entry(value.value).metadata)


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


@pytest.mark.parametrize("left", [b"x", DELETE])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_pach_M4_what_one_of_three_sources_took_away_does_not_come_by_the_others(
    desk: Desk, order: tuple[int, ...], left: bytes | None
) -> None:
    fork(desk, desk.commit(branch="main", g=b"0"), "one")
    fork(desk, desk.commit(branch="one", f=b"a"), "two", "three")
    one = desk.commit(branch="one", f=DELETE) if left is DELETE else anew(desk, "one", left)
    sources = [one, desk.commit(branch="two", f=b"b"), desk.commit(branch="three", f=b"c")]
    bodies = [left or b"", b"b", b"c"]
    (made,) = desk.merge(*(sources[n] for n in order), branch="main", squash=True)
    assert desk.read("f", made) == b"".join(bodies[n] for n in order)


@either_first
@pytest.mark.parametrize("reverts", [True, False])
def test_a_block_that_a_source_appended_stays_where_another_one_takes_away_the_targets_equal(
    desk: Desk, *, backwards: bool, reverts: bool
) -> None:
    fork(desk, desk.commit(branch="main", f=b"a"), "one")
    grown = desk.commit(branch="main", f=b"c")
    fork(desk, grown, "two")
    one = desk.commit(branch="one", f=b"c")
    two = undo(desk, grown, "two") if reverts else desk.commit(branch="two", f=DELETE)
    (made,) = desk.merge(*((two, one) if backwards else (one, two)), branch="main", squash=True)
    assert desk.read("f", made) == (b"ac" if reverts else b"c")


@either_first
def test_an_empty_file_that_a_source_deleted_does_not_come_by_another_one(
    desk: Desk, *, backwards: bool
) -> None:
    fork(desk, desk.commit(branch="main", g=b"0"), "one")
    fork(desk, desk.commit(branch="one", f=b""), "two")
    one, two = desk.commit(branch="one", h=b"h"), desk.commit(branch="two", f=DELETE)
    (made,) = desk.merge(*((two, one) if backwards else (one, two)), branch="main", squash=True)
    assert desk.files(made) == {"g": b"0", "h": b"h"}


@either_first
@pytest.mark.parametrize("body", [b"a", b""])
def test_what_was_said_of_a_file_that_another_source_replaced_goes_with_it(
    desk: Desk, body: bytes, *, backwards: bool
) -> None:
    fork(desk, desk.commit(branch="main", g=b"0"), "one")
    fork(desk, desk.commit(branch="one", f=body), "two")
    one, two = say(desk, "one", owner="ada"), anew(desk, "two", b"b")
    (made,) = desk.merge(*((two, one) if backwards else (one, two)), branch="main", squash=True)
    assert desk.read("f", made) == b"b"
    assert said_of(desk, made) == {}


@either_first
def test_the_targets_block_stays_where_a_source_takes_away_an_equal_one_of_another_source(
    desk: Desk, *, backwards: bool
) -> None:
    fork(desk, desk.commit(branch="main", f=b"b"), "one")
    grown = desk.commit(branch="one", f=b"a")
    fork(desk, grown, "two")
    desk.commit(branch="main", f=b"a")
    one, two = desk.commit(branch="one", h=b"h"), undo(desk, grown, "two")
    (made,) = desk.merge(*((two, one) if backwards else (one, two)), branch="main", squash=True)
    assert desk.files(made) == {"f": b"ba", "h": b"h"}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_block_that_a_source_appended_stays_where_another_one_takes_away_a_thirds_equal(
    desk: Desk, order: tuple[int, ...]
) -> None:
    fork(desk, desk.commit(branch="main", f=b"b"), "one", "two")
    grown = desk.commit(branch="two", f=b"a")
    fork(desk, grown, "three")
    one, two = desk.commit(branch="one", f=b"a"), desk.commit(branch="two", h=b"h")
    sources = [one, two, undo(desk, grown, "three")]
    (made,) = desk.merge(*(sources[n] for n in order), branch="main", squash=True)
    assert desk.files(made) == {"f": b"ba", "h": b"h"}


@pytest.mark.parametrize("body", [b"a", b""])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_file_that_a_source_brought_back_comes_though_another_has_it_gone(
    desk: Desk, order: tuple[int, ...], body: bytes
) -> None:
    fork(desk, desk.commit(branch="main", g=b"0"), "one")
    fork(desk, desk.commit(branch="one", f=body), "two")
    gone = desk.commit(branch="two", f=DELETE)
    fork(desk, gone, "three")
    one, two = desk.commit(branch="one", h=b"h"), desk.commit(branch="two", i=b"i")
    sources = [one, two, undo(desk, gone, "three")]
    (made,) = desk.merge(*(sources[n] for n in order), branch="main", squash=True)
    assert desk.files(made) == {"f": body, "g": b"0", "h": b"h", "i": b"i"}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_an_object_that_a_source_replaced_does_not_come_by_another_one_that_appended_to_it(
    desk: Desk, order: tuple[int, ...]
) -> None:
    fork(desk, desk.commit(branch="main", g=b"0"), "one")
    fork(desk, whole(desk, "one", b"A"), "two")
    grown = desk.commit(branch="two", f=b"b")
    fork(desk, grown, "three")
    one, two = desk.commit(branch="one", f=b"c"), desk.commit(branch="two", h=b"h")
    sources, bodies = [one, two, whole(desk, "three", b"D")], [b"c", b"", b"D"]
    (made,) = desk.merge(*(sources[n] for n in order), branch="main", squash=True)
    assert desk.read("f", made) == b"".join(bodies[n] for n in order)
