# SPDX-License-Identifier: Apache-2.0
"""Groups: made, read, listed, deleted. Who is in one is in `memberships`."""

from lochan.access import kinds
from lochan.access.access import Access
from lochan.access.entities import create_entity, delete_entity, get_entity, list_entities
from lochan.access.paging import DEFAULT_AMOUNT, Page, page_of
from lochan.model.access import Group, valid_name
from lochan.model.ids import UniqueIdentifier
from lochan.model.instant import from_seconds


def create_group(access: Access, name: str, *, description: str = "") -> Group:
    """Make a group without members or policies.

    Raises: NotUnique, InvalidInput, Unavailable, UnknownOutcome.
    """
    wanted = Group(
        name=valid_name("group", name),
        unique_identifier=UniqueIdentifier(access.environment.new_id()),
        creation_date=from_seconds(access.environment.now()),
        description=description,
    )
    with access.changing():
        return create_entity(kinds.groups(access), wanted)


def get_group(access: Access, name: str) -> Group:
    """Read a group. Raises NotFound."""
    return get_entity(kinds.groups(access), name)


def list_groups(
    access: Access, prefix: str = "", after: str = "", amount: int = DEFAULT_AMOUNT
) -> Page[Group]:
    """Give a page of groups by name."""
    found = list_entities(kinds.groups(access), prefix, after)
    return page_of(found, amount, lambda group: group.name)


def delete_group(access: Access, name: str) -> None:
    """Delete a group; its members lose what it gave them at once.

    After an error it may be repeated. Raises: NotFound, Unavailable when nothing was changed,
    UnknownOutcome.
    """
    with access.changing():
        delete_entity(kinds.groups(access), name)
