# SPDX-License-Identifier: Apache-2.0
"""lakeFS's generated client: users, groups, policies, credentials, login, set-up."""

import time
from collections.abc import Callable, Iterator

import pytest
from lakefs_sdk import (
    CommPrefsInput,
    GroupCreation,
    LoginInformation,
    Policy,
    Setup,
    Statement,
    StatsEvent,
    StatsEventsList,
    UserCreation,
)
from lakefs_sdk.api.auth_api import AuthApi
from lakefs_sdk.client import LakeFSClient
from lakefs_sdk.configuration import Configuration
from lakefs_sdk.exceptions import (
    ApiException,
    ForbiddenException,
    NotFoundException,
    UnauthorizedException,
)

from support.server import KEY_ID, KEY_SECRET, Server


@pytest.fixture
def auth(sdk: LakeFSClient) -> AuthApi:
    return sdk.auth_api


@pytest.fixture
def ada(auth: AuthApi) -> Iterator[str]:
    """Make a user without rights, and delete it after."""
    auth.create_user(UserCreation(id="ada"))
    yield "ada"
    auth.delete_user("ada")


def policy(name: str, *actions: str, resource: str = "*") -> Policy:
    statement = Statement(effect="allow", action=list(actions), resource=resource)
    return Policy(id=name, statement=[statement])


def status(client: LakeFSClient, repository: str) -> int:
    try:
        return int(client.branches_api.list_branches_with_http_info(repository).status_code)
    except ApiException as error:
        return int(error.status)


def in_time(happens: Callable[[], bool]) -> None:
    """Wait for what every worker knows after a second at most, on a machine that is busy."""
    give_up = time.monotonic() + 10
    while not happens():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_who_asks_is_told(auth: AuthApi) -> None:
    assert auth.get_current_user().user.id == "admin"


def test_users_come_in_pages(auth: AuthApi) -> None:
    for number in range(5):
        auth.create_user(UserCreation(id=f"user{number}"))
    first = auth.list_users(prefix="user", amount=2)
    assert [one.id for one in first.results] == ["user0", "user1"]
    assert (first.pagination.has_more, first.pagination.next_offset) == (True, "user1")
    rest = auth.list_users(prefix="user", after="user1", amount=100)
    assert ([one.id for one in rest.results], rest.pagination.has_more) == (
        ["user2", "user3", "user4"],
        False,
    )
    for number in range(5):
        auth.delete_user(f"user{number}")
    with pytest.raises(NotFoundException):
        auth.get_user("user0")


def test_a_group_s_policies_are_its_members(auth: AuthApi, ada: str) -> None:
    group = auth.create_group(GroupCreation(id="readers"))
    auth.create_policy(policy("may-read", "fs:Read*", "fs:List*"))
    auth.attach_policy_to_group(group.id, "may-read")
    auth.add_group_membership(group.id, ada)
    assert [one.id for one in auth.list_group_members(group.id).results] == [ada]
    assert [one.id for one in auth.list_user_groups(ada).results] == [group.id]
    assert [one.id for one in auth.list_group_policies(group.id).results] == ["may-read"]
    assert auth.list_user_policies(ada).results == []
    effective = auth.list_user_policies(ada, effective=True).results
    assert [one.id for one in effective] == ["may-read"]
    auth.delete_group_membership(group.id, ada)
    assert auth.list_group_members(group.id).results == []
    auth.detach_policy_from_group(group.id, "may-read")
    auth.delete_group(group.id)
    assert group.id not in [one.id for one in auth.list_groups().results]
    auth.delete_policy("may-read")


def test_policies_are_changed_and_come_and_go(auth: AuthApi, ada: str) -> None:
    auth.create_policy(policy("small", "fs:ReadRepository"))
    auth.attach_policy_to_user(ada, "small")
    changed = auth.update_policy("small", policy("small", "fs:ReadObject"))
    assert changed.statement[0].action == ["fs:ReadObject"]
    assert auth.get_policy("small").statement[0].action == ["fs:ReadObject"]
    assert "small" in [one.id for one in auth.list_policies(prefix="sm").results]
    auth.detach_policy_from_user(ada, "small")
    assert auth.list_user_policies(ada).results == []
    auth.delete_policy("small")


def test_the_groups_of_lakefs_are_there(auth: AuthApi) -> None:
    names = {one.id for one in auth.list_groups().results}
    assert {"Admins", "SuperUsers", "Developers", "Viewers"} <= names
    assert auth.get_group("Admins").name == "Admins"


def test_a_user_may_what_policies_say_and_no_more(
    server: Server, auth: AuthApi, ada: str, repository: str
) -> None:
    made = auth.create_credentials(ada)
    assert [one.access_key_id for one in auth.list_user_credentials(ada).results] == [
        made.access_key_id
    ]
    assert auth.get_credentials(ada, made.access_key_id).access_key_id == made.access_key_id
    own = LakeFSClient(
        Configuration(host=server.url, username=made.access_key_id, password=made.secret_access_key)
    )
    with pytest.raises(ForbiddenException):
        own.branches_api.list_branches(repository)
    auth.create_policy(
        policy("lists", "fs:ListBranches", resource=f"arn:lakefs:fs:::repository/{repository}")
    )
    auth.attach_policy_to_user(ada, "lists")
    in_time(lambda: status(own, repository) == 200)
    with pytest.raises(ForbiddenException):
        own.auth_api.list_users()
    auth.delete_credentials(ada, made.access_key_id)
    in_time(lambda: status(own, repository) == 401)
    auth.delete_policy("lists")


def test_a_token_from_login_is_let_in(server: Server, auth: AuthApi) -> None:
    token = auth.login(LoginInformation(access_key_id=KEY_ID, secret_access_key=KEY_SECRET)).token
    with_token = LakeFSClient(Configuration(host=server.url, access_token=token))
    assert with_token.auth_api.get_current_user().user.id == "admin"
    with pytest.raises(UnauthorizedException):
        auth.login(LoginInformation(access_key_id=KEY_ID, secret_access_key="wrong"))


def test_set_up_works_once(sdk: LakeFSClient) -> None:
    assert sdk.internal_api.get_setup_state().state == "initialized"
    with pytest.raises(ApiException) as told:
        sdk.internal_api.setup(Setup(username="second"))
    assert told.value.status == 409
    sdk.internal_api.setup_comm_prefs(CommPrefsInput(featureUpdates=False, securityUpdates=False))
    event = StatsEvent(**{"class": "test", "name": "ran", "count": 1})
    sdk.internal_api.post_stats_events(StatsEventsList(events=[event]))
