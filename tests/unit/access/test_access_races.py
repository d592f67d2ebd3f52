# SPDX-License-Identifier: Apache-2.0
"""Somebody else does a whole piece of work just before any call of a change."""

from collections.abc import Callable

import pytest

from lochan.access.access import Access
from lochan.access.attachments import attach_policy_to_group, attach_policy_to_user
from lochan.access.credentials import IssuedCredential, create_credentials
from lochan.access.effective import effective_policies
from lochan.access.groups import create_group, delete_group
from lochan.access.memberships import (
    add_group_membership,
    list_group_members,
    list_user_groups,
)
from lochan.access.policies import create_policy, delete_policy
from lochan.access.users import create_user, delete_user, get_user
from lochan.errors import LochanError, NotFound, NotUnique
from lochan.kv.faulty import Faulty
from lochan.model.access import User
from support.access_ground import READ, AccessGround
from support.repository_life import at, every_call, outcome

GIVEN = {"access_key_id": "AKIAGIVEN", "secret_access_key": "given-secret"}


def with_all() -> AccessGround:
    ground = AccessGround()
    create_user(ground.access, "ann")
    create_group(ground.access, "readers")
    create_policy(ground.access, "reading", [READ])
    return ground


def renew_user(access: Access) -> None:
    delete_user(access, "ann")
    create_user(access, "ann")


def renew_group(access: Access) -> None:
    delete_group(access, "readers")
    create_group(access, "readers")


def renew_policy(access: Access) -> None:
    delete_policy(access, "reading")
    create_policy(access, "reading", [READ])


RENEWALS = [renew_user, renew_group, renew_policy]


def join_all(access: Access) -> None:
    add_group_membership(access, "readers", "ann")
    attach_policy_to_group(access, "readers", "reading")
    attach_policy_to_user(access, "ann", "reading")


def has(ground: AccessGround) -> tuple[bool, bool, bool]:
    """Say whether ann is in the group, listed there, and has the policy."""
    access = ground.process()
    return (
        bool(list_user_groups(access, "ann").results),
        bool(list_group_members(access, "readers").results),
        bool(effective_policies(access, get_user(access, "ann"))),
    )


@pytest.mark.parametrize("renew", RENEWALS)
def test_rel_S33_what_is_joined_while_an_end_is_renewed_joins_nothing_new(
    renew: Callable[[Access], None],
) -> None:
    def run(number: int) -> Faulty:
        ground = with_all()
        access, faulty = ground.failing(at(number, lambda: renew(ground.process())))
        joined = outcome(lambda: add_group_membership(access, "readers", "ann"))
        in_group, listed, _ = has(ground)
        assert in_group == listed
        assert not in_group or joined is None
        assert joined is None or isinstance(joined, NotFound)
        return faulty

    assert every_call(run) >= 8


@pytest.mark.parametrize("renew", RENEWALS)
def test_rel_S33_a_late_change_spares_what_was_joined_since(
    renew: Callable[[Access], None],
) -> None:
    """One process deletes or joins slowly; another renews an end and joins everything anew."""

    def renew_and_join(access: Access) -> None:
        outcome(lambda: renew(access))
        join_all(access)

    for slow in (join_all, renew):

        def run(number: int, slow: Callable[[Access], None] = slow) -> Faulty:
            ground = with_all()
            done: list[object] = []
            act = at(number, lambda: done.append(outcome(lambda: renew_and_join(ground.process()))))
            access, faulty = ground.failing(act)
            outcome(lambda: slow(access))
            if slow is join_all and done == [None]:
                assert has(ground) == (True, True, True)
            outcome(lambda: slow(ground.process()))
            return faulty

        assert every_call(run) >= 8


def test_rel_S33_no_key_outlives_a_user_deleted_while_it_was_made() -> None:
    def run(number: int) -> Faulty:
        ground = with_all()
        access, faulty = ground.failing(at(number, lambda: renew_user(ground.process())))
        made = outcome(lambda: create_credentials(access, "ann", **GIVEN))
        given = IssuedCredential(
            **GIVEN, creation_date=get_user(ground.access, "ann").creation_date
        )
        # It is known only if it was made for the user that is there now.
        assert ground.knows(given) == (isinstance(made, IssuedCredential) and _owns(ground))
        left = [key for key in ground.stored() if "credentials" in key]
        assert bool(left) == ground.knows(given)
        return faulty

    assert every_call(run) >= 8


def _owns(ground: AccessGround) -> bool:
    ann = get_user(ground.access, "ann")
    return any(ann.unique_identifier in key for key in ground.stored() if "credentials" in key)


def test_of_two_who_want_a_name_one_gets_it() -> None:
    def run(number: int) -> Faulty:
        ground = AccessGround()
        made: list[object] = []
        rival = at(number, lambda: made.append(create_user(ground.process(), "ann")))
        access, faulty = ground.failing(rival)
        mine = outcome(lambda: create_user(access, "ann"))
        assert isinstance(mine, User if not made else NotUnique | LochanError)
        assert get_user(ground.access, "ann") in [*made, mine]
        return faulty

    assert every_call(run) >= 1


def test_of_two_who_want_an_access_key_one_gets_it() -> None:
    def run(number: int) -> Faulty:
        ground = with_all()
        create_user(ground.access, "bob")
        theirs: list[object] = []

        def take() -> None:
            other = {"access_key_id": "AKIAGIVEN", "secret_access_key": "secret-of-bob"}
            theirs.append(outcome(lambda: create_credentials(ground.process(), "bob", **other)))

        access, faulty = ground.failing(at(number, take))
        mine = outcome(lambda: create_credentials(access, "ann", **GIVEN))
        won = [one for one in (mine, *theirs) if isinstance(one, IssuedCredential)]
        assert len(won) == 1
        assert ground.knows(won[0])
        return faulty

    assert every_call(run) >= 8
