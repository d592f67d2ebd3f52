# SPDX-License-Identifier: Apache-2.0
"""A path is a file or a directory, whatever the names beside it go on with.

Some bytes sort before the slash: "a-b" comes between "a" and "a/c".
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lochan.errors import Conflict
from support.open_commits import Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.mark.parametrize("squash", [True, False])
@pytest.mark.parametrize("mark", ["-", ".", " ", "+"])
def test_pach_M7_a_directory_is_seen_behind_a_name_that_another_one_goes_on_from(
    desk: Desk, mark: str, *, squash: bool
) -> None:
    opened = {branch: desk.start(branch=branch) for branch in ("side", "main")}
    for path in ("data", f"data{mark}old"):
        desk.put(opened["side"], path, b"1")
    for path in (f"data{mark}old/x", "zz"):
        desk.put(opened["main"], path, b"2")
    side, head = desk.finish(opened["side"]), desk.finish(opened["main"])
    with pytest.raises(Conflict, match=r"'data.old' cannot be a file and a directory"):
        desk.merge(side, branch="main", squash=squash)
    assert desk.head() == head


def test_pach_P6_of_two_commits_on_one_branch_the_later_makes_no_file_of_a_directory(
    desk: Desk,
) -> None:
    late, first = desk.start(branch="main"), desk.start(branch="main")
    desk.put(late, "log", b"1")
    desk.put(late, "log.1", b"1")
    desk.put(first, "log.1/x", b"2")
    desk.finish(first)
    with pytest.raises(Conflict, match=r"'log\.1' cannot be a file and a directory"):
        desk.finish(late)


NAMES = ("a", "a-", "a-b", "a.b", "b")
# What becomes of each name: nothing, a file, or a directory.
forms = st.tuples(*(st.sampled_from(["", "{}", "{}/x"]) for _ in NAMES))
paths = forms.map(
    lambda each: {form.format(name) for form, name in zip(each, NAMES, strict=True) if form}
)


def has_both(paths: set[str]) -> bool:
    return any(other.startswith(path + "/") for path in paths for other in paths)


@settings(max_examples=150, deadline=None)
@given(paths, paths)
def test_pach_P6_pach_M7_what_two_write_at_once_is_refused_where_a_path_would_be_both(
    first: set[str], late: set[str]
) -> None:
    desk = Desk()
    opened = {who: desk.start(branch="main") for who in ("first", "late")}
    for who, written in (("first", first), ("late", late)):
        for path in written:
            desk.put(opened[who], path, b"x")
    desk.finish(opened["first"])
    if has_both(first | late):
        with pytest.raises(Conflict, match="cannot be a file and a directory"):
            desk.finish(opened["late"])
    else:
        assert set(desk.files(desk.finish(opened["late"]))) == first | late
