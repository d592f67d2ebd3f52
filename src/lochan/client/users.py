# SPDX-License-Identifier: Apache-2.0
"""The users of a lake: their credentials, their groups, and the policies attached to them."""

from collections.abc import Iterator

from lochan.client.pages import items
from lochan.client.transport import Transport
from lochan.shapes.access import (
    Credentials,
    CredentialsList,
    CredentialsWithSecret,
    Group,
    GroupList,
    ListUserPoliciesQuery,
    Policy,
    PolicyList,
    User,
    UserCreation,
    UserList,
)
from lochan.shapes.pages import PageQuery


class Users:
    """All users, by their names."""

    def __init__(self, transport: Transport) -> None:
        """Ask the lake behind a transport."""
        self._transport = transport

    def list(self, prefix: str = "") -> Iterator[User]:
        """Give the users, by name."""
        return items(lambda after, amount: self._page(prefix, after, amount))

    def get(self, user: str) -> User:
        """Give one. Raises NotFound."""
        return self._transport.call("GET", _at(user), User)

    def create(self, user: str) -> User:
        """Make one; it may do nothing until a policy or a group says otherwise."""
        return self._transport.call("POST", ("auth", "users"), User, body=UserCreation(id=user))

    def delete(self, user: str) -> None:
        """Delete one, and its credentials."""
        self._transport.send("DELETE", _at(user))

    def credentials(self, user: str) -> Iterator[Credentials]:
        """Give a user's access keys, without their secrets."""

        def fetch(after: str, amount: int) -> CredentialsList:
            query = PageQuery(after=after, amount=amount)
            return self._transport.call(
                "GET", _at(user, "credentials"), CredentialsList, query=query
            )

        return items(fetch)

    def get_credentials(self, user: str, access_key_id: str) -> Credentials:
        """Give one access key, without its secret. Raises NotFound."""
        return self._transport.call("GET", _at(user, "credentials", access_key_id), Credentials)

    def create_credentials(self, user: str) -> CredentialsWithSecret:
        """Make an access key; its secret is told this once."""
        return self._transport.call("POST", _at(user, "credentials"), CredentialsWithSecret)

    def delete_credentials(self, user: str, access_key_id: str) -> None:
        """Take an access key away."""
        self._transport.send("DELETE", _at(user, "credentials", access_key_id))

    def groups(self, user: str) -> Iterator[Group]:
        """Give the groups that a user is in."""

        def fetch(after: str, amount: int) -> GroupList:
            query = PageQuery(after=after, amount=amount)
            return self._transport.call("GET", _at(user, "groups"), GroupList, query=query)

        return items(fetch)

    def policies(self, user: str, *, effective: bool = False) -> Iterator[Policy]:
        """Give the policies attached to a user, and if asked those of its groups."""

        def fetch(after: str, amount: int) -> PolicyList:
            query = ListUserPoliciesQuery(after=after, amount=amount, effective=effective)
            return self._transport.call("GET", _at(user, "policies"), PolicyList, query=query)

        return items(fetch)

    def attach_policy(self, user: str, policy: str) -> None:
        """Attach a policy to a user."""
        self._transport.send("PUT", _at(user, "policies", policy))

    def detach_policy(self, user: str, policy: str) -> None:
        """Detach a policy from a user."""
        self._transport.send("DELETE", _at(user, "policies", policy))

    def _page(self, prefix: str, after: str, amount: int) -> UserList:
        query = PageQuery(prefix=prefix, after=after, amount=amount)
        return self._transport.call("GET", ("auth", "users"), UserList, query=query)


def _at(user: str, *rest: str) -> tuple[str, ...]:
    return ("auth", "users", user, *rest)
