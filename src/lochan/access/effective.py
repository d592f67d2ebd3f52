# SPDX-License-Identifier: Apache-2.0
"""What a user may do, all told: its own policies and those of its groups."""

from lochan.access import kinds
from lochan.access.access import Access, Whose
from lochan.access.attachments import policies_of_group, policies_of_user
from lochan.access.decide import rules, statements_of
from lochan.access.entities import get_entity
from lochan.access.memberships import groups_of
from lochan.access.paging import DEFAULT_AMOUNT, Page, page_of
from lochan.access.principal import Principal
from lochan.model.access import EntityState, Policy, User


def effective_policies(access: Access, user: User) -> tuple[Policy, ...]:
    """Give each policy that holds for a user once, by name."""
    found = {policy.name: policy for policy in policies_of_user(access, user)}
    for group in groups_of(access, user):
        found |= {policy.name: policy for policy in policies_of_group(access, group)}
    return tuple(found[name] for name in sorted(found, key=str.encode))


def list_effective_policies(
    access: Access,
    user_name: str,
    prefix: str = "",
    after: str = "",
    amount: int = DEFAULT_AMOUNT,
) -> Page[Policy]:
    """Give a page of the policies that hold for a user, by name. Raises NotFound."""
    user = get_entity(kinds.users(access), user_name)
    rest = (
        policy
        for policy in effective_policies(access, user)
        if policy.name.startswith(prefix) and policy.name.encode() > after.encode()
    )
    return page_of(rest, amount, lambda policy: policy.name)


def principal_of(access: Access, user_name: str) -> Principal:
    """Give a user as somebody who asks; for who is known already by other means.

    Raises NotFound.
    """
    return _principal(access, get_entity(kinds.users(access), user_name))


def find_principal(access: Access, whose: Whose) -> Principal | None:
    """Give the user of this name if it still is this one, as of the last second."""
    return access.principals.get(whose, lambda asked: _read(access, asked))


def _read(access: Access, whose: Whose) -> Principal | None:
    name, unique_identifier = whose
    found = access.tables.users.find(name.encode())
    if (
        found is None
        or found.record.unique_identifier != unique_identifier
        or found.record.state is not EntityState.ACTIVE
    ):
        return None
    return _principal(access, found.record)


def _principal(access: Access, user: User) -> Principal:
    return Principal(
        user=user.name,
        unique_identifier=user.unique_identifier,
        rules=rules(statements_of(effective_policies(access, user)), user.name),
        credentials_epoch=user.credentials_epoch,
        friendly_name=user.friendly_name,
        email=user.email,
        creation_date=user.creation_date,
    )
