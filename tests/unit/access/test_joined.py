# SPDX-License-Identifier: Apache-2.0
"""Memberships, attachments, and the policies that a user has by them."""

from collections.abc import Callable

import pytest

from lochan.access.access import Access
from lochan.access.attachments import (
    attach_policy_to_group,
    attach_policy_to_user,
    detach_policy_from_group,
    detach_policy_from_user,
    list_group_policies,
    list_user_policies,
)
from lochan.access.effective import list_effective_policies, principal_of
from lochan.access.groups import create_group, delete_group
from lochan.access.memberships import (
    add_group_membership,
    delete_group_membership,
    list_group_members,
    list_user_groups,
)
from lochan.access.needed import Permission
from lochan.access.paging import Page
from lochan.access.policies import create_policy, delete_policy
from lochan.access.users import create_user, delete_user
from lochan.errors import NotFound
from lochan.model.access import Entity
from support.access_ground import READ, AccessGround, with_ann

READING = Permission("fs:ReadObject", "arn:lakefs:fs:::repository/lake/object/a")
WRITING = Permission("fs:WriteObject", "arn:lakefs:fs:::repository/lake/object/a")


@pytest.fixture
def ground() -> AccessGround:
    found = AccessGround()
    with_ann(found)
    return found


def names(page: Page[Entity]) -> list[str]:
    return [one.name for one in page.results]


def test_both_directions_of_a_membership_are_listed(ground: AccessGround) -> None:
    access = ground.access
    add_group_membership(access, "readers", "ann")
    assert names(list_group_members(access, "readers")) == ["ann"]
    assert names(list_user_groups(access, "ann")) == ["readers"]
    delete_group_membership(access, "readers", "ann")
    assert names(list_group_members(access, "readers")) == []
    assert names(list_user_groups(access, "ann")) == []
    with pytest.raises(NotFound) as missing:
        delete_group_membership(access, "readers", "ann")
    assert missing.value.code == "membership-not-found"


def test_members_are_listed_by_prefix_and_page(ground: AccessGround) -> None:
    for name in ("bob", "a/x", "amy"):
        create_user(ground.access, name)
        add_group_membership(ground.access, "readers", name)
    first = list_group_members(ground.access, "readers", prefix="a", amount=2)
    assert names(first) == ["a/x", "amy"]
    rest = list_group_members(ground.access, "readers", prefix="a", after=first.next_offset)
    assert names(rest) == ["ann"]


def test_a_user_has_its_own_policies_and_those_of_its_groups(ground: AccessGround) -> None:
    attach_policy_to_user(ground.access, "ann", "reading")
    assert names(list_effective_policies(ground.access, "ann")) == ["reading", "writing"]
    assert names(list_effective_policies(ground.access, "ann", after="reading")) == ["writing"]
    assert names(list_user_policies(ground.access, "ann")) == ["reading", "writing"]
    assert names(list_group_policies(ground.access, "readers")) == ["reading"]


def test_a_user_may_do_what_its_policies_allow(ground: AccessGround) -> None:
    assert principal_of(ground.access, "ann").allows(READING)
    assert principal_of(ground.access, "ann").allows(WRITING)
    detach_policy_from_user(ground.access, "ann", "writing")
    assert not principal_of(ground.access, "ann").allows(WRITING)
    detach_policy_from_group(ground.access, "readers", "reading")
    assert not principal_of(ground.access, "ann").allows(READING)
    for detach, owner in ((detach_policy_from_user, "ann"), (detach_policy_from_group, "readers")):
        with pytest.raises(NotFound) as missing:
            detach(ground.access, owner, "reading")
        assert missing.value.code == "attachment-not-found"


def test_joining_needs_both_ends(ground: AccessGround) -> None:
    before = ground.rows()
    for join, owner, other in (
        (add_group_membership, "nobody", "ann"),
        (add_group_membership, "readers", "nobody"),
        (attach_policy_to_user, "ann", "nothing"),
        (attach_policy_to_group, "nobody", "reading"),
    ):
        with pytest.raises(NotFound):
            join(ground.access, owner, other)
    assert ground.rows() == before


def test_rel_S33_a_group_made_again_has_no_members_and_no_policies(ground: AccessGround) -> None:
    delete_group(ground.access, "readers")
    create_group(ground.access, "readers")
    assert names(list_group_members(ground.access, "readers")) == []
    assert names(list_group_policies(ground.access, "readers")) == []
    assert names(list_user_groups(ground.access, "ann")) == []


def test_rel_S33_a_policy_made_again_is_attached_nowhere(ground: AccessGround) -> None:
    delete_policy(ground.access, "reading")
    delete_policy(ground.access, "writing")
    for name in ("reading", "writing"):
        create_policy(ground.access, name, [READ])
    assert names(list_effective_policies(ground.access, "ann")) == []


def test_rel_R18_S33_deleting_everything_leaves_no_key(ground: AccessGround) -> None:
    delete_policy(ground.access, "reading")
    delete_user(ground.access, "ann")
    delete_group(ground.access, "readers")
    delete_policy(ground.access, "writing")
    assert ground.stored() == []


def renew_user(access: Access) -> None:
    delete_user(access, "ann")
    create_user(access, "ann")


def renew_group(access: Access) -> None:
    delete_group(access, "readers")
    create_group(access, "readers")


def renew_policies(access: Access) -> None:
    for name in ("reading", "writing"):
        delete_policy(access, name)
        create_policy(access, name, [READ])


@pytest.mark.parametrize("renew", [renew_user, renew_group, renew_policies])
def test_rel_S33_rows_of_what_is_gone_do_not_count(
    ground: AccessGround, renew: Callable[[Access], None]
) -> None:
    """Whatever a crash left: the old rows are put back behind the back of what is new."""
    left = ground.rows()
    renew(ground.access)
    for key, value in left.items():
        if key not in ground.rows():
            ground.store.set(b"auth", key, value)
    policies = names(list_effective_policies(ground.access, "ann"))
    assert policies == (["writing"] if renew is renew_group else [])
    if renew is not renew_policies:
        assert names(list_user_groups(ground.access, "ann")) == []
        assert names(list_group_members(ground.access, "readers")) == []
