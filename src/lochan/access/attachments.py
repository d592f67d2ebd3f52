# SPDX-License-Identifier: Apache-2.0
"""Which policies a user or a group has: one row each, under the owner's unique identifier."""

from collections.abc import Iterator
from typing import TypeVar

from lochan.access import kinds
from lochan.access.access import Access
from lochan.access.entities import Kind, check_entity, get_entity
from lochan.access.paging import DEFAULT_AMOUNT, Page, page_of
from lochan.access.rows import put_row, remove_row
from lochan.access.tables import scan_of
from lochan.errors import NotFound
from lochan.kv.table import Table
from lochan.model.access import Attachment, Entity, EntityState, Group, Policy, User
from lochan.model.keys import belonging_to

Owner = TypeVar("Owner", bound=Entity)


def attach_policy_to_user(access: Access, user_name: str, policy_name: str) -> None:
    """Give a policy to a user; to have it already is fine. Raises: NotFound, and the stores'."""
    _attach(access, kinds.users(access), access.tables.user_policies, user_name, policy_name)


def attach_policy_to_group(access: Access, group_name: str, policy_name: str) -> None:
    """Give a policy to a group; to have it already is fine. Raises: NotFound, and the stores'."""
    _attach(access, kinds.groups(access), access.tables.group_policies, group_name, policy_name)


def detach_policy_from_user(access: Access, user_name: str, policy_name: str) -> None:
    """Take a policy from a user. Raises: NotFound, also when the user does not have it."""
    _detach(access, kinds.users(access), access.tables.user_policies, user_name, policy_name)


def detach_policy_from_group(access: Access, group_name: str, policy_name: str) -> None:
    """Take a policy from a group. Raises: NotFound, also when the group does not have it."""
    _detach(access, kinds.groups(access), access.tables.group_policies, group_name, policy_name)


def list_user_policies(
    access: Access,
    user_name: str,
    prefix: str = "",
    after: str = "",
    amount: int = DEFAULT_AMOUNT,
) -> Page[Policy]:
    """Give a page of a user's own policies by name. Raises NotFound."""
    user = get_entity(kinds.users(access), user_name)
    found = policies_of_user(access, user, prefix, after)
    return page_of(found, amount, lambda policy: policy.name)


def list_group_policies(
    access: Access,
    group_name: str,
    prefix: str = "",
    after: str = "",
    amount: int = DEFAULT_AMOUNT,
) -> Page[Policy]:
    """Give a page of a group's policies by name. Raises NotFound."""
    group = get_entity(kinds.groups(access), group_name)
    found = policies_of_group(access, group, prefix, after)
    return page_of(found, amount, lambda policy: policy.name)


def policies_of_user(
    access: Access, user: User, prefix: str = "", after: str = ""
) -> Iterator[Policy]:
    """Give the policies attached to a user itself, by name."""
    rows = scan_of(access.tables.user_policies, user.unique_identifier, prefix, after)
    return _attached(access, rows)


def policies_of_group(
    access: Access, group: Group, prefix: str = "", after: str = ""
) -> Iterator[Policy]:
    """Give the policies attached to a group, by name."""
    rows = scan_of(access.tables.group_policies, group.unique_identifier, prefix, after)
    return _attached(access, rows)


def _attached(access: Access, rows: Iterator[Attachment]) -> Iterator[Policy]:
    for row in rows:
        found = access.tables.policies.find(row.policy.encode())
        if (
            found is not None
            and found.record.unique_identifier == row.policy_unique_identifier
            and found.record.state is EntityState.ACTIVE
        ):
            yield found.record


def _attach(
    access: Access, kind: Kind[Owner], table: Table[Attachment], owner_name: str, policy_name: str
) -> None:
    owner = get_entity(kind, owner_name)
    policy = get_entity(kinds.policies(access), policy_name)

    def check() -> None:
        check_entity(kind, owner)
        check_entity(kinds.policies(access), policy)

    row = Attachment(policy.name, policy.unique_identifier)
    with access.changing():
        put_row(table, belonging_to(owner.unique_identifier, policy.name), row, check)


def _detach(
    access: Access, kind: Kind[Owner], table: Table[Attachment], owner_name: str, policy_name: str
) -> None:
    owner = get_entity(kind, owner_name)
    policy = get_entity(kinds.policies(access), policy_name)
    row = Attachment(policy.name, policy.unique_identifier)
    with access.changing():
        place = belonging_to(owner.unique_identifier, policy.name)
        was_there = remove_row(table, place, row)
    if not was_there:
        message = f"{kind.noun} {owner_name!r} does not have policy {policy_name!r}"
        raise NotFound(message, code="attachment-not-found")
