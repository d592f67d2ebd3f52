# SPDX-License-Identifier: Apache-2.0
"""User metadata and content type come along by replay and squash, as bytes do.

Who has changed them wins, and the last of several. A file that nobody says anything new of keeps
what is said of it where it is.
"""

from collections.abc import Mapping

import pytest

from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.records import Commit
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.put_object import put_object
from lochan.operations.update_user_metadata import update_user_metadata
from support.open_commits import DELETE, Desk

both_ways = pytest.mark.parametrize("squash", [True, False])
PATH = ObjectKey(b"f")
ADA, BOB = {"owner": "ada"}, {"owner": "bob"}


@pytest.fixture
def desk() -> Desk:
    return Desk()


def fork(desk: Desk, at: Commit, *branches: str) -> None:
    for branch in branches:
        create_branch(*desk.where, BranchName(branch), at.id)


def say(desk: Desk, branch: str, said: Mapping[str, str]) -> Commit:
    update_user_metadata(*desk.where, BranchName(branch), PATH, said)
    return commit(*desk.where, BranchName(branch), CommitRequest("ada"))


def whole(desk: Desk, branch: str, body: bytes, content_type: str = "text/csv") -> Commit:
    put_object(*desk.where, BranchName(branch), PATH, body, content_type=content_type)
    return commit(*desk.where, BranchName(branch), CommitRequest("ada"))


def entry(desk: Desk, made: Commit) -> Entry:
    found = desk.stage.storage.snapshots.get(made.meta_range_id, PATH)
    assert found is not None
    return decode_entry(found.value)


def text(desk: Desk, made: Commit) -> bytes:
    return desk.read("f", made)


@both_ways
def test_what_a_source_says_of_a_file_comes_though_no_byte_does(
    desk: Desk, *, squash: bool
) -> None:
    fork(desk, desk.commit(branch="main", f=b"x"), "side")
    desk.commit(branch="main", f=b"y")
    made = desk.merge(say(desk, "side", ADA), branch="main", squash=squash)[-1]
    assert (text(desk, made), entry(desk, made).metadata) == (b"xy", ADA)


@both_ways
def test_what_a_source_says_of_a_new_file_comes_with_it(desk: Desk, *, squash: bool) -> None:
    fork(desk, desk.commit(branch="main", g=b"0"), "side")
    desk.commit(branch="side", f=b"x")
    made = desk.merge(say(desk, "side", ADA), branch="main", squash=squash)[-1]
    assert (text(desk, made), entry(desk, made).metadata) == (b"x", ADA)


@both_ways
def test_what_the_target_alone_says_of_a_file_stays(desk: Desk, *, squash: bool) -> None:
    fork(desk, desk.commit(branch="main", f=b"x"), "side")
    say(desk, "main", ADA)
    made = desk.merge(desk.commit(branch="side", f=b"s"), branch="main", squash=squash)[-1]
    assert (text(desk, made), entry(desk, made).metadata) == (b"xs", ADA)


@both_ways
def test_of_what_both_sides_say_of_a_file_the_sources_stays_and_the_last_ones(
    desk: Desk, *, squash: bool
) -> None:
    fork(desk, desk.commit(branch="main", f=b"x"), "one", "two")
    say(desk, "main", {"owner": "main"})
    one, two = say(desk, "one", ADA), say(desk, "two", BOB)
    made = desk.merge(two, one, branch="main", squash=squash)[-1]
    assert entry(desk, made).metadata == ADA


@both_ways
def test_what_a_source_no_longer_says_goes(desk: Desk, *, squash: bool) -> None:
    desk.commit(branch="main", f=b"x")
    fork(desk, say(desk, "main", ADA), "side")
    desk.commit(branch="main", f=b"y")
    made = desk.merge(say(desk, "side", {}), branch="main", squash=squash)[-1]
    assert (text(desk, made), entry(desk, made).metadata) == (b"xy", {})


@both_ways
@pytest.mark.parametrize("kind", ["whole", "blocks"])
def test_what_is_said_of_a_file_does_not_bring_it_back(
    desk: Desk, kind: str, *, squash: bool
) -> None:
    base = desk.commit(branch="main", f=b"x") if kind == "blocks" else whole(desk, "main", b"x")
    fork(desk, base, "side")
    desk.commit(branch="main", f=DELETE)
    made = desk.merge(say(desk, "side", ADA), branch="main", squash=squash)[-1]
    assert desk.files(made) == {}


@both_ways
@pytest.mark.parametrize("backwards", [True, False])
def test_an_object_that_one_source_speaks_of_and_another_goes_on_from_keeps_the_order_of_its_bytes(
    desk: Desk, *, squash: bool, backwards: bool
) -> None:
    fork(desk, whole(desk, "main", b"A"), "one", "two")
    one, two = say(desk, "one", ADA), desk.commit(branch="two", f=b"B")
    sources = (two, one) if backwards else (one, two)
    made = desk.merge(*sources, branch="main", squash=squash)[-1]
    assert (text(desk, made), entry(desk, made).metadata) == (b"AB", ADA)


@both_ways
def test_an_object_stays_whole_where_a_source_only_speaks_of_it(
    desk: Desk, *, squash: bool
) -> None:
    base = whole(desk, "main", b"A", "text/plain")
    fork(desk, base, "side")
    desk.commit(branch="main", g=b"0")
    made = desk.merge(say(desk, "side", ADA), branch="main", squash=squash)[-1]
    found = entry(desk, made)
    assert (found.address, found.epoch) == (entry(desk, base).address, None)
    assert (found.metadata, found.content_type) == (ADA, "text/plain")


@both_ways
def test_the_content_type_of_an_object_comes_with_what_was_appended_to_it(
    desk: Desk, *, squash: bool
) -> None:
    fork(desk, desk.commit(branch="main", g=b"0"), "side")
    whole(desk, "side", b"A", "text/plain")
    side = desk.commit(branch="side", f=b"B")
    made = desk.merge(side, branch="main", squash=squash)[-1]
    assert (text(desk, made), entry(desk, made).content_type) == (b"AB", "text/plain")
