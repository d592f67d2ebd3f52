# SPDX-License-Identifier: Apache-2.0
"""The policies of a lake: statements under a name, which allow or deny."""

from collections.abc import Iterator, Sequence

from lochan.client.pages import items
from lochan.client.transport import Transport
from lochan.shapes.access import Policy, PolicyList, Statement
from lochan.shapes.pages import PageQuery


class Policies:
    """All policies, by their names."""

    def __init__(self, transport: Transport) -> None:
        """Ask the lake behind a transport."""
        self._transport = transport

    def list(self, prefix: str = "") -> Iterator[Policy]:
        """Give the policies, by name."""

        def fetch(after: str, amount: int) -> PolicyList:
            query = PageQuery(prefix=prefix, after=after, amount=amount)
            return self._transport.call("GET", ("auth", "policies"), PolicyList, query=query)

        return items(fetch)

    def get(self, policy: str) -> Policy:
        """Give one. Raises NotFound."""
        return self._transport.call("GET", ("auth", "policies", policy), Policy)

    def create(self, policy: str, statements: Sequence[Statement]) -> Policy:
        """Make one. Raises AlreadyExists."""
        body = Policy(id=policy, statement=list(statements))
        return self._transport.call("POST", ("auth", "policies"), Policy, body=body)

    def update(self, policy: str, statements: Sequence[Statement]) -> Policy:
        """Give one other statements instead of those that it has."""
        body = Policy(id=policy, statement=list(statements))
        return self._transport.call("PUT", ("auth", "policies", policy), Policy, body=body)

    def delete(self, policy: str) -> None:
        """Delete one, wherever it is attached."""
        self._transport.send("DELETE", ("auth", "policies", policy))
