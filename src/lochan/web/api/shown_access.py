# SPDX-License-Identifier: Apache-2.0
"""Users, groups and policies as the API names and shows them, and what their routes ask for."""

from typing import Final

from lochan.errors import InvalidInput
from lochan.model import access as records
from lochan.model.instant import to_seconds
from lochan.shapes import access as shapes

USER: Final = "arn:lakefs:auth:::user/{userId}"
GROUP: Final = "arn:lakefs:auth:::group/{groupId}"
POLICY: Final = "arn:lakefs:auth:::policy/{policyId}"


def addressable(kind: str, name: str) -> str:
    """Accept the name of something to be made if requests can name it in their path.

    The store takes slashes; a path is cut at them, escaped or not, and clients remove dots.
    """
    if "/" in name or name in {".", ".."}:
        message = f"{name[:80]!r} cannot be part of an address; choose a {kind} name without slash"
        raise InvalidInput(message, code=f"invalid-{kind}-name")
    return name


def shown_user(user: records.User) -> shapes.User:
    """Show a user."""
    return shapes.User(
        id=user.name,
        creation_date=to_seconds(user.creation_date),
        friendly_name=user.friendly_name or None,
        email=user.email or None,
    )


def shown_group(group: records.Group) -> shapes.Group:
    """Show a group; it has one name, which lakeFS's clients look for in two places."""
    return shapes.Group(
        id=group.name,
        name=group.name,
        description=group.description or None,
        creation_date=to_seconds(group.creation_date),
    )


def shown_policy(policy: records.Policy) -> shapes.Policy:
    """Show a policy."""
    return shapes.Policy(
        id=policy.name,
        creation_date=to_seconds(policy.creation_date),
        statement=[
            shapes.Statement(
                effect="allow" if said.effect == "allow" else "deny",
                resource=said.resource,
                action=list(said.action),
            )
            for said in policy.statement
        ],
    )
