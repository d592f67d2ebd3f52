# SPDX-License-Identifier: Apache-2.0
"""Who is in which group: two rows, so that both directions are listed by a prefix scan.

The row under the group is the one that counts. The row under the user is written before it and
removed after it, so it always leads to the other: whoever prunes a user finds all its places.
"""

from collections.abc import Iterator

from lochan.access import kinds
from lochan.access.access import Access
from lochan.access.entities import check_entity, get_entity
from lochan.access.paging import DEFAULT_AMOUNT, Page, page_of
from lochan.access.rows import put_row, remove_row
from lochan.access.tables import scan_of
from lochan.errors import NotFound
from lochan.kv.outcomes import begun
from lochan.model.access import EntityState, Group, Membership, User
from lochan.model.keys import belonging_to


def add_group_membership(access: Access, group_name: str, user_name: str) -> None:
    """Put a user into a group; to be in it already is fine.

    Raises: NotFound, Conflict, Unavailable when nothing was changed, UnknownOutcome.
    """
    user, group, row = _both(access, group_name, user_name)
    tables = access.tables

    def check() -> None:
        check_entity(kinds.users(access), user)
        check_entity(kinds.groups(access), group)

    by_user = belonging_to(user.unique_identifier, group.name)
    by_group = belonging_to(group.unique_identifier, user.name)
    with access.changing():
        put_row(tables.user_groups, by_user, row, check)
        with begun(f"adding user {user.name!r} to group {group.name!r}"):
            try:
                put_row(tables.group_users, by_group, row, check)
            except NotFound:
                remove_row(tables.user_groups, by_user, row)
                raise


def delete_group_membership(access: Access, group_name: str, user_name: str) -> None:
    """Take a user out of a group.

    After an error it may be repeated. Raises: NotFound, also when the user is not in the group;
    Unavailable when nothing was changed, UnknownOutcome.
    """
    user, group, row = _both(access, group_name, user_name)
    tables = access.tables
    with access.changing():
        by_group = belonging_to(group.unique_identifier, user.name)
        was_in = remove_row(tables.group_users, by_group, row)
        with begun(f"taking user {user.name!r} out of group {group.name!r}"):
            by_user = belonging_to(user.unique_identifier, group.name)
            was_listed = remove_row(tables.user_groups, by_user, row)
    if not was_in and not was_listed:
        message = f"user {user_name!r} is not in group {group_name!r}"
        raise NotFound(message, code="membership-not-found")


def list_group_members(
    access: Access,
    group_name: str,
    prefix: str = "",
    after: str = "",
    amount: int = DEFAULT_AMOUNT,
) -> Page[User]:
    """Give a page of a group's users by name. Raises NotFound."""
    group = get_entity(kinds.groups(access), group_name)
    return page_of(members_of(access, group, prefix, after), amount, lambda user: user.name)


def list_user_groups(
    access: Access,
    user_name: str,
    prefix: str = "",
    after: str = "",
    amount: int = DEFAULT_AMOUNT,
) -> Page[Group]:
    """Give a page of a user's groups by name. Raises NotFound."""
    user = get_entity(kinds.users(access), user_name)
    return page_of(groups_of(access, user, prefix, after), amount, lambda group: group.name)


def members_of(access: Access, group: Group, prefix: str = "", after: str = "") -> Iterator[User]:
    """Give the users in a group, by name; rows of users that are gone are passed over."""
    for place in scan_of(access.tables.group_users, group.unique_identifier, prefix, after):
        found = access.tables.users.find(place.user.encode())
        if (
            found is not None
            and found.record.unique_identifier == place.user_unique_identifier
            and found.record.state is EntityState.ACTIVE
        ):
            yield found.record


def groups_of(access: Access, user: User, prefix: str = "", after: str = "") -> Iterator[Group]:
    """Give the groups that a user is in, by name; rows that do not count are passed over."""
    tables = access.tables
    for place in scan_of(tables.user_groups, user.unique_identifier, prefix, after):
        found = tables.groups.find(place.group.encode())
        if (
            found is None
            or found.record.unique_identifier != place.group_unique_identifier
            or found.record.state is not EntityState.ACTIVE
        ):
            continue
        counts = tables.group_users.find(belonging_to(place.group_unique_identifier, user.name))
        if counts is not None and counts.record == place:
            yield found.record


def _both(access: Access, group_name: str, user_name: str) -> tuple[User, Group, Membership]:
    group = get_entity(kinds.groups(access), group_name)
    user = get_entity(kinds.users(access), user_name)
    row = Membership(user.name, user.unique_identifier, group.name, group.unique_identifier)
    return user, group, row
