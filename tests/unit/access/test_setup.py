# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable

import pytest

from lochan.access.actions import ACTIONS
from lochan.access.authenticate import authenticate
from lochan.access.builtin import GROUPS, POLICIES
from lochan.access.credentials import IssuedCredential
from lochan.access.groups import delete_group, get_group, list_groups
from lochan.access.memberships import list_group_members, list_user_groups
from lochan.access.needed import Permission
from lochan.access.policies import list_policies
from lochan.access.setup import is_set_up, setup, setup_date
from lochan.access.users import create_user, list_users
from lochan.errors import AlreadyExists, InvalidInput, NotFound
from lochan.kv.faulty import Faulty, Plan
from support.access_ground import AccessGround
from support.repository_life import FAILURES, at, every_call, outcome

KEY = {"access_key_id": "AKIAIOSFOLQUICKSTART", "secret_access_key": "wJalrXUtnFEMI/K7MDENG"}


def is_whole(ground: AccessGround, issued: IssuedCredential, name: str = "ann") -> None:
    """Check that one administrator is there and nothing is half made."""
    access = ground.process()
    assert [user.name for user in list_users(access).results] == [name]
    assert {group.name for group in list_groups(access).results} == set(GROUPS)
    assert {policy.name for policy in list_policies(access).results} == set(POLICIES)
    assert [group.name for group in list_user_groups(access, name).results] == ["Admins"]
    assert [user.name for user in list_group_members(access, "Admins").results] == [name]
    found = authenticate(access, issued.access_key_id, issued.secret_access_key)
    assert found.user == name
    assert all(found.allows(Permission(action, "arn:lakefs:x")) for action in ACTIONS)


def test_rel_S28_a_lake_begins_without_any_user() -> None:
    ground = AccessGround()
    assert not is_set_up(ground.access)
    assert setup_date(ground.access) == 0
    assert ground.stored() == []


def test_rel_S28_set_up_makes_one_administrator_once() -> None:
    ground = AccessGround()
    issued = setup(ground.access, "ann")
    is_whole(ground, issued)
    assert is_set_up(ground.access)
    assert setup_date(ground.access) == issued.creation_date
    before = ground.rows()
    for name in ("ann", "bob"):
        with pytest.raises(AlreadyExists) as again:
            setup(ground.access, name)
        assert again.value.status == 409
    assert ground.rows() == before


def test_a_given_access_key_is_taken_at_set_up() -> None:
    ground = AccessGround()
    issued = setup(ground.access, "ann", **KEY)
    assert issued.access_key_id == KEY["access_key_id"]
    is_whole(ground, issued)


def test_a_set_up_that_cannot_be_is_refused_before_it_begins() -> None:
    ground = AccessGround()
    with pytest.raises(InvalidInput):
        setup(ground.access, "")
    with pytest.raises(InvalidInput):
        setup(ground.access, "ann", access_key_id="AKIA", secret_access_key="short")
    create_user(ground.access, "ann")
    with pytest.raises(AlreadyExists):
        setup(ground.access, "ann")
    assert not is_set_up(ground.access)


def test_what_was_deleted_after_set_up_stays_deleted() -> None:
    ground = AccessGround()
    setup(ground.access, "ann")
    delete_group(ground.access, "Viewers")
    with pytest.raises(AlreadyExists):
        setup(ground.access, "bob")
    with pytest.raises(NotFound):
        get_group(ground.access, "Viewers")


def test_rel_S27_the_record_of_a_finished_set_up_holds_no_secret() -> None:
    ground = AccessGround()
    setup(ground.access, "ann")
    found = ground.access.tables.setup.get(b"").record
    assert found.credential is None


ONCE = {name: failure for name, failure in FAILURES.items() if "once" in name}


@pytest.mark.parametrize("failure", ONCE.values(), ids=ONCE)
def test_rel_S28_a_set_up_that_fails_anywhere_is_finished_by_the_next(
    failure: Callable[[int], Plan],
) -> None:
    def run(number: int) -> Faulty:
        ground = AccessGround()
        access, faulty = ground.failing(failure(number))
        result = outcome(lambda: setup(access, "ann", **KEY))
        begun = is_set_up(ground.access)
        if isinstance(result, IssuedCredential):
            is_whole(ground, result)
        again = outcome(lambda: setup(ground.process(), "ann", **KEY))
        assert isinstance(again, AlreadyExists if begun else IssuedCredential)
        is_whole(ground, IssuedCredential(**KEY, creation_date=0))  # type: ignore[arg-type] # the date does not matter
        return faulty

    assert every_call(run) > 100


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 20, 60])
def test_rel_S28_of_two_set_ups_at_once_one_wins(number: int) -> None:
    ground = AccessGround()
    theirs: list[object] = []
    rival = at(number, lambda: theirs.append(outcome(lambda: setup(ground.process(), "bob"))))
    access, _ = ground.failing(rival)
    made = {"ann": outcome(lambda: setup(access, "ann")), "bob": theirs[0]}
    won = {name: one for name, one in made.items() if isinstance(one, IssuedCredential)}
    assert len(won) == 1
    for name, issued in won.items():
        is_whole(ground, issued, name)
