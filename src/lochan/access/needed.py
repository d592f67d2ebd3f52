# SPDX-License-Identifier: Apache-2.0
"""What a request needs: one permission, or all of several.

Permission(READ_OBJECT, object_arn("lake", "a.csv"))
Permission(DELETE_OBJECT, object_arn("lake", "raw/*"), below=True)
AllOf(Permission(READ_OBJECT, source), Permission(WRITE_OBJECT, destination))
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import msgspec

from lochan.errors import InvalidInput


class Permission(msgspec.Struct, frozen=True):
    """One action on one resource; `below`, on all that the star at its end may stand for.

    Without it a star is a star.
    """

    action: str
    resource: str
    below: bool = False


@dataclass(frozen=True, slots=True, init=False)
class AllOf:
    """Everything in it is needed; an empty one would allow anybody, so there is none."""

    needs: tuple["Needed", ...]

    def __init__(self, *needs: "Needed") -> None:
        """Need all of these."""
        if not needs:
            raise InvalidInput("AllOf needs something; a request that needs nothing says so itself")
        object.__setattr__(self, "needs", needs)


Needed: TypeAlias = Permission | AllOf


def permissions_of(needed: Needed) -> Iterator[Permission]:
    """Give every single permission that is needed, from left to right."""
    if isinstance(needed, Permission):
        yield needed
        return
    for part in needed.needs:
        yield from permissions_of(part)
