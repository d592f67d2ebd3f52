# SPDX-License-Identifier: Apache-2.0
"""Users, groups and policies: made, read, listed, deleted."""

import pytest

from lochan.access.groups import create_group, delete_group, get_group, list_groups
from lochan.access.policies import (
    create_policy,
    delete_policy,
    get_policy,
    list_policies,
    update_policy,
)
from lochan.access.users import create_user, delete_user, get_user, list_users
from lochan.errors import InvalidInput, NotFound, NotUnique
from lochan.model.access import Statement
from support.access_ground import READ, WRITE, AccessGround


@pytest.fixture
def ground() -> AccessGround:
    return AccessGround()


def test_what_was_made_is_read_back(ground: AccessGround) -> None:
    access = ground.access
    user = create_user(access, "ann", friendly_name="Ann", email="ann@lake.example")
    assert get_user(access, "ann") == user
    group = create_group(access, "readers", description="those who read")
    assert get_group(access, "readers") == group
    policy = create_policy(access, "reading", [READ])
    assert get_policy(access, "reading") == policy


def test_a_name_is_given_once(ground: AccessGround) -> None:
    create_user(ground.access, "ann")
    with pytest.raises(NotUnique) as taken:
        create_user(ground.access, "ann")
    assert (taken.value.status, taken.value.code) == (409, "user-already-exists")


def test_what_is_not_there_is_not_found(ground: AccessGround) -> None:
    acts = [get_user, delete_user, get_group, delete_group, get_policy, delete_policy]
    for act in acts:
        for name in ("ann", "", "\ud800", "x" * 3000):
            with pytest.raises(NotFound):
                act(ground.access, name)


@pytest.mark.parametrize("name", ["", " ann", "ann ", "a\nb", "a\0b", "\x7f", "x" * 513, "\ud800"])
def test_a_name_that_nobody_could_read_is_refused(ground: AccessGround, name: str) -> None:
    for create in (create_user, create_group):
        with pytest.raises(InvalidInput):
            create(ground.access, name)
    assert ground.stored() == []


def test_names_with_slashes_do_not_meet(ground: AccessGround) -> None:
    names = ["a", "a/", "a/b", "a/b/c", "arn:aws:iam::1:user/x", "iam/users/a", "ä ö"]
    made = {create_user(ground.access, name).unique_identifier for name in names}
    assert len(made) == len(names)
    assert [user.name for user in list_users(ground.access).results] == sorted(
        names, key=str.encode
    )
    delete_user(ground.access, "a")
    with pytest.raises(NotFound):
        get_user(ground.access, "a")
    assert get_user(ground.access, "a/b").name == "a/b"


def test_listings_go_on_page_by_page(ground: AccessGround) -> None:
    names = [f"user-{number:02d}" for number in range(25)]
    for name in [*names, "other"]:
        create_user(ground.access, name)
    seen, after = [], ""
    while True:
        page = list_users(ground.access, prefix="user-", after=after, amount=10)
        seen += [user.name for user in page.results]
        if not page.has_more:
            break
        after = page.next_offset
    assert seen == names
    assert page.next_offset == ""


def test_a_page_that_ends_with_the_last_has_no_more(ground: AccessGround) -> None:
    for name in ("a", "b"):
        create_group(ground.access, name)
    assert not list_groups(ground.access, amount=2).has_more
    assert list_groups(ground.access, amount=1).next_offset == "a"
    assert list_groups(ground.access, after="b").results == ()
    with pytest.raises(InvalidInput):
        list_groups(ground.access, amount=0)


def test_a_policy_says_something_else_and_stays_the_same(ground: AccessGround) -> None:
    first = create_policy(ground.access, "p", [READ])
    second = update_policy(ground.access, "p", [WRITE])
    assert second.unique_identifier == first.unique_identifier
    assert list_policies(ground.access).results == (second,)
    assert second.statement == (WRITE,)
    with pytest.raises(NotFound):
        update_policy(ground.access, "q", [WRITE])


@pytest.mark.parametrize(
    "statements",
    [
        [],
        [Statement("permit", ("fs:*",), "*")],
        [Statement("allow", (), "*")],
        [Statement("allow", ("fs",), "*")],
        [Statement("allow", ("s3:GetObject",), "*")],
        [Statement("allow", ("fs:Read Object",), "*")],
        [Statement("allow", ("fs:*",), "")],
        [Statement("allow", ("fs:*",), "repository/lake")],
        [Statement("allow", ("fs:*",), "[]")],
        [Statement("allow", ("fs:*",), '["*", 1]')],
        [Statement("allow", ("fs:*",), "arn:lakefs:" + "x" * 3000)],
        [READ] * 101,
    ],
)
def test_a_policy_that_nobody_could_mean_is_refused(
    ground: AccessGround, statements: list[Statement]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        create_policy(ground.access, "p", statements)
    assert refused.value.code == "invalid-policy"
