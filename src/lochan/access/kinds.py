# SPDX-License-Identifier: Apache-2.0
"""Users, groups and policies as kinds of things, and what goes before one of them goes.

    a user      its credentials, its places in groups, its policies
    a group     its members' places in it, its policies
    a policy    wherever it is attached: all attachments are looked through, since deleting one is
                rare (seed 004: "simply do a scan when needed")

Rows under the unique identifier of what is going are its own, and are deleted as they are. A row
elsewhere ends in its name, so it is removed only while it names the same incarnation.
"""

from typing import TypeVar

from lochan.access.access import Access
from lochan.access.entities import Kind
from lochan.access.rows import remove_row
from lochan.access.tables import Tables, scan_of
from lochan.kv.outcomes import surely
from lochan.kv.table import Table
from lochan.model.access import Attachment, CredentialOwner, Group, Policy, User
from lochan.model.ids import UniqueIdentifier
from lochan.model.keys import belonging_to

Row = TypeVar("Row")


def users(access: Access) -> Kind[User]:
    """Give the kind of users."""
    return Kind("user", access.tables.users, lambda user: _prune_user(access.tables, user))


def groups(access: Access) -> Kind[Group]:
    """Give the kind of groups."""
    return Kind("group", access.tables.groups, lambda group: _prune_group(access.tables, group))


def policies(access: Access) -> Kind[Policy]:
    """Give the kind of policies."""
    return Kind("policy", access.tables.policies, lambda one: _prune_policy(access.tables, one))


def _prune_user(tables: Tables, user: User) -> None:
    owner = user.unique_identifier
    for credential in scan_of(tables.user_credentials, owner):
        key = credential.access_key_id
        remove_row(tables.credentials, key.encode(), CredentialOwner(user.name, owner))
        _remove(tables.user_credentials, owner, key)
    for place in scan_of(tables.user_groups, owner):
        row = belonging_to(place.group_unique_identifier, user.name)
        remove_row(tables.group_users, row, place)
        _remove(tables.user_groups, owner, place.group)
    _detach_all(tables.user_policies, owner)


def _prune_group(tables: Tables, group: Group) -> None:
    owner = group.unique_identifier
    for place in scan_of(tables.group_users, owner):
        row = belonging_to(place.user_unique_identifier, group.name)
        remove_row(tables.user_groups, row, place)
        _remove(tables.group_users, owner, place.user)
    _detach_all(tables.group_policies, owner)


def _prune_policy(tables: Tables, policy: Policy) -> None:
    wanted = Attachment(policy.name, policy.unique_identifier)
    for table in (tables.user_policies, tables.group_policies):
        for name, attachment in table.scan():
            if attachment == wanted:
                remove_row(table, name, wanted)


def _detach_all(table: Table[Attachment], owner: UniqueIdentifier) -> None:
    for attachment in scan_of(table, owner):
        _remove(table, owner, attachment.policy)


def _remove(table: Table[Row], owner: UniqueIdentifier, name: str) -> None:
    surely(lambda: table.delete(belonging_to(owner, name)))
