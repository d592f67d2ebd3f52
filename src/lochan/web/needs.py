# SPDX-License-Identifier: Apache-2.0
"""What a route demands of its caller, declared beside the route and filled in from the request.

A resource is a template: `arn:lakefs:fs:::repository/{repository}/object/{path}`. A name in braces
is looked up in the path, then in the query, then in the body (`{body.name}`). Who is let in without
asking is written out by name: ANYBODY, or SIGNED_IN for every known user.

A handler that decides by what it finds, such as one of many keys in a body, declares EACH: the
names of what it will ask for, so that the document and the matrix of permissions show it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from string import Formatter
from typing import Final

from lochan.access.needed import AllOf, Permission


class Open(Enum):
    """Routes that ask for no permission."""

    ANYBODY = "anybody"
    SIGNED_IN = "signed-in"


ANYBODY: Final = Open.ANYBODY
SIGNED_IN: Final = Open.SIGNED_IN


@dataclass(frozen=True, slots=True)
class Need:
    """One permission: an action on a resource whose template the request fills in."""

    action: str
    resource: str

    def of(self, look_up: Callable[[str], str]) -> Permission:
        """Fill the template in."""
        literals, names = _parts(self.resource)
        filled = literals[0]
        for name, literal in zip(names, literals[1:], strict=True):
            filled += look_up(name) + literal
        return Permission(self.action, filled)


@dataclass(frozen=True, slots=True)
class Every:
    """Several permissions, all of which are needed."""

    needs: tuple[Need, ...]

    def of(self, look_up: Callable[[str], str]) -> AllOf:
        """Fill all templates in."""
        return AllOf(*(need.of(look_up) for need in self.needs))


@dataclass(frozen=True, slots=True)
class Each:
    """Permissions that the handler asks for by itself, as it finds what they are about."""

    needs: tuple[Need, ...]


Needs = Open | Need | Every | Each


def every(*needs: Need) -> Every:
    """Demand all of several permissions."""
    return Every(needs)


def each(*needs: Need) -> Each:
    """Say which permissions the handler will ask for."""
    return Each(needs)


def names_of(needs: Needs) -> list[tuple[str, str]]:
    """Give (action, resource template) of all that a route may ask for."""
    match needs:
        case Open():
            return []
        case Need(action, resource):
            return [(action, resource)]
        case Every(several) | Each(several):
            return [(need.action, need.resource) for need in several]


def look_up(path: Mapping[str, str], query: object | None, body: object | None, name: str) -> str:
    """Find the value of a template's name in a request."""
    if name in path:
        return path[name]
    holder: object | None = query
    if name.startswith("body."):
        holder, name = body, name.removeprefix("body.")
    return str(getattr(holder, name))


@lru_cache(1000)
def _parts(template: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    literals, names = [""], []
    for literal, name, _, _ in Formatter().parse(template):
        literals[-1] += literal
        if name is not None:
            names.append(name)
            literals.append("")
    return tuple(literals), tuple(names)
