# SPDX-License-Identifier: Apache-2.0
"""Users: made, read, listed, deleted. A name that is used again is somebody else."""

from lochan.access import kinds
from lochan.access.access import Access
from lochan.access.entities import create_entity, delete_entity, get_entity, list_entities
from lochan.access.paging import DEFAULT_AMOUNT, Page, page_of
from lochan.model.access import User, valid_name
from lochan.model.ids import UniqueIdentifier
from lochan.model.instant import from_seconds


def create_user(access: Access, name: str, *, friendly_name: str = "", email: str = "") -> User:
    """Make a user without credentials, groups or policies.

    Raises: NotUnique, InvalidInput, Unavailable, UnknownOutcome.
    """
    wanted = User(
        name=valid_name("user", name),
        unique_identifier=UniqueIdentifier(access.environment.new_id()),
        creation_date=from_seconds(access.environment.now()),
        friendly_name=friendly_name,
        email=email,
    )
    with access.changing():
        return create_entity(kinds.users(access), wanted)


def get_user(access: Access, name: str) -> User:
    """Read a user. Raises NotFound."""
    return get_entity(kinds.users(access), name)


def list_users(
    access: Access, prefix: str = "", after: str = "", amount: int = DEFAULT_AMOUNT
) -> Page[User]:
    """Give a page of users by name."""
    found = list_entities(kinds.users(access), prefix, after)
    return page_of(found, amount, lambda user: user.name)


def delete_user(access: Access, name: str) -> None:
    """Delete a user with all credentials, memberships and attachments; logins end at once.

    After an error it may be repeated. Raises: NotFound, Unavailable when nothing was changed,
    UnknownOutcome.
    """
    with access.changing():
        delete_entity(kinds.users(access), name)
