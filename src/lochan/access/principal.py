# SPDX-License-Identifier: Apache-2.0
"""Somebody who has shown who they are, and what they may do."""

from dataclasses import dataclass, field

from lochan.access.decide import Rules
from lochan.access.needed import AllOf, Needed, Permission, permissions_of
from lochan.errors import PermissionDenied
from lochan.model.ids import UniqueIdentifier
from lochan.model.instant import EPOCH, Instant


@dataclass(frozen=True, slots=True)
class Principal:
    """A user as of the last second: the name, the identity behind it, and the rules for it."""

    user: str
    unique_identifier: UniqueIdentifier
    rules: Rules = field(repr=False, compare=False)
    credentials_epoch: int = 0
    friendly_name: str = ""
    email: str = ""
    creation_date: Instant = EPOCH

    def allows(self, needed: Needed) -> bool:
        """Say whether everything that a request needs is allowed."""
        if isinstance(needed, AllOf):
            return all(map(self.allows, needed.needs))
        if needed.below:
            return self.rules.allow_below(needed.action, needed.resource.removesuffix("*"))
        return self.rules.allow(needed.action, needed.resource)

    def require(self, needed: Needed) -> None:
        """Refuse what is not allowed. Raises PermissionDenied, naming the first thing missing."""
        if self.allows(needed):
            return
        missing = next(one for one in permissions_of(needed) if not self.allows(one))
        raise _denied(self.user, missing)


def _denied(user: str, missing: Permission) -> PermissionDenied:
    message = (
        f"user {user!r} may not {missing.action} on {missing.resource}; ask somebody who manages"
        " policies"
    )
    return PermissionDenied(message, action=missing.action, resource=missing.resource)
