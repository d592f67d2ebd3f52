# SPDX-License-Identifier: Apache-2.0
"""50,000 users in one group: how long it takes to list them, and to judge one."""

from pathlib import Path

import pytest

from lochan.access.access import Access, open_access
from lochan.access.authenticate import authenticate
from lochan.access.credentials import create_credentials
from lochan.access.groups import create_group
from lochan.access.memberships import (
    add_group_membership,
    list_group_members,
    list_user_groups,
)
from lochan.access.paging import Page
from lochan.access.users import create_user, list_users
from lochan.environment import RealEnvironment
from lochan.kv.drivers.sqlite import SqliteStore
from lochan.model.access import User
from support.access_ground import SECRET
from support.many_users import fill, timed

USERS_OF_A_LAKE = 50_000


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Access:
    environment = RealEnvironment()
    path: Path = tmp_path_factory.mktemp("lake") / "kv.sqlite"
    access = open_access(SqliteStore(path, environment), environment, SECRET)
    fill(access, create_group(access, "everybody"), USERS_OF_A_LAKE)
    for name in ("one", "two"):
        create_group(access, name)
        add_group_membership(access, name, "user-025000")
    return access


def test_groups_of_a_user_among_50_000_are_listed_at_once(lake: Access) -> None:
    page, took = timed("groups of a user", lambda: list_user_groups(lake, "user-025000"))
    assert [group.name for group in page.results] == ["everybody", "one", "two"]
    assert took < 0.1


def test_members_of_a_group_of_50_000_are_listed_page_by_page(lake: Access) -> None:
    def every() -> list[str]:
        seen, after = [], ""
        while True:
            page = list_group_members(lake, "everybody", after=after, amount=1000)
            seen += [user.name for user in page.results]
            if not page.has_more:
                return seen
            after = page.next_offset

    def last() -> Page[User]:
        return list_group_members(lake, "everybody", after="user-049000", amount=1000)

    page, took = timed("the last 1,000 members", last)
    assert len(page.results) == 999
    assert took < 0.5
    seen, _ = timed("50,000 members in pages of 1,000", every)
    assert len(set(seen)) == USERS_OF_A_LAKE


def test_users_are_listed_by_prefix_without_reading_the_others(lake: Access) -> None:
    page, took = timed("100 of 50,000 users", lambda: list_users(lake, prefix="user-0499"))
    assert len(page.results) == 100
    assert took < 0.1


def test_a_new_user_gets_in_among_50_000(lake: Access) -> None:
    create_user(lake, "newcomer")
    issued = create_credentials(lake, "newcomer")
    key = issued.access_key_id, issued.secret_access_key
    found, took = timed("authenticate, cold", lambda: authenticate(lake, *key))
    assert found.user == "newcomer"
    assert took < 0.1
