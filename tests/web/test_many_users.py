# SPDX-License-Identifier: Apache-2.0
"""50,000 users behind the API: groups of a user and members of a group, and the time they take.

`pytest -s` shows the times; the bounds are what a busy machine keeps.
"""

from collections.abc import Iterator

import pytest

from lochan.access.groups import create_group
from lochan.access.memberships import add_group_membership
from support.many_users import fill, timed
from support.web import Api, open_api

USERS = 50_000


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with open_api(tmp_path_factory.mktemp("many") / "lake") as opened:
        access = opened.services.access
        fill(access, create_group(access, "everybody"), USERS)
        create_group(access, "few")
        add_group_membership(access, "few", "user-025000")
        yield opened


def test_groups_of_a_user_among_50_000_over_rest(api: Api) -> None:
    at = "/auth/users/user-025000/groups"
    answer, took = timed("GET groups of a user", lambda: api.get(at))
    assert [group["id"] for group in answer.json["results"]] == ["everybody", "few"]
    assert took < 0.5


def test_members_of_a_group_of_50_000_over_rest(api: Api) -> None:
    def every() -> list[str]:
        seen, after = list[str](), ""
        while True:
            asked = {"amount": "1000", "after": after}
            page = api.get("/auth/groups/everybody/members", params=asked).json
            seen += [user["id"] for user in page["results"]]
            after = page["pagination"]["next_offset"]
            if not page["pagination"]["has_more"]:
                return seen

    asked = {"amount": "1000", "after": "user-049000"}
    at = "/auth/groups/everybody/members"
    page, took = timed("GET the last 1,000 members", lambda: api.get(at, params=asked))
    assert len(page.json["results"]) == 999
    assert took < 2
    seen, _ = timed("GET 50,000 members in pages of 1,000", every)
    assert len(set(seen)) == USERS
