# SPDX-License-Identifier: Apache-2.0
"""The groups of a lake: their members, and the policies attached to them."""

from collections.abc import Iterator

from lochan.client.pages import items
from lochan.client.transport import Transport
from lochan.shapes.access import Group, GroupCreation, GroupList, Policy, PolicyList, User, UserList
from lochan.shapes.pages import PageQuery


class Groups:
    """All groups, by their names."""

    def __init__(self, transport: Transport) -> None:
        """Ask the lake behind a transport."""
        self._transport = transport

    def list(self, prefix: str = "") -> Iterator[Group]:
        """Give the groups, by name."""

        def fetch(after: str, amount: int) -> GroupList:
            query = PageQuery(prefix=prefix, after=after, amount=amount)
            return self._transport.call("GET", ("auth", "groups"), GroupList, query=query)

        return items(fetch)

    def get(self, group: str) -> Group:
        """Give one. Raises NotFound."""
        return self._transport.call("GET", _at(group), Group)

    def create(self, group: str, description: str = "") -> Group:
        """Make one, without members and policies."""
        body = GroupCreation(id=group, description=description or None)
        return self._transport.call("POST", ("auth", "groups"), Group, body=body)

    def delete(self, group: str) -> None:
        """Delete one; its members stay users."""
        self._transport.send("DELETE", _at(group))

    def members(self, group: str) -> Iterator[User]:
        """Give the members of a group."""

        def fetch(after: str, amount: int) -> UserList:
            query = PageQuery(after=after, amount=amount)
            return self._transport.call("GET", _at(group, "members"), UserList, query=query)

        return items(fetch)

    def add_member(self, group: str, user: str) -> None:
        """Put a user into a group."""
        self._transport.send("PUT", _at(group, "members", user))

    def remove_member(self, group: str, user: str) -> None:
        """Take a user out of a group."""
        self._transport.send("DELETE", _at(group, "members", user))

    def policies(self, group: str) -> Iterator[Policy]:
        """Give the policies attached to a group."""

        def fetch(after: str, amount: int) -> PolicyList:
            query = PageQuery(after=after, amount=amount)
            return self._transport.call("GET", _at(group, "policies"), PolicyList, query=query)

        return items(fetch)

    def attach_policy(self, group: str, policy: str) -> None:
        """Attach a policy to a group."""
        self._transport.send("PUT", _at(group, "policies", policy))

    def detach_policy(self, group: str, policy: str) -> None:
        """Detach a policy from a group."""
        self._transport.send("DELETE", _at(group, "policies", policy))


def _at(group: str, *rest: str) -> tuple[str, ...]:
    return ("auth", "groups", group, *rest)
