# SPDX-License-Identifier: Apache-2.0
"""What a route demands of its caller, declared beside the route and filled in from the request.

A resource is a template: `arn:lakefs:fs:::repository/{repository}/object/{path}`. A name in braces
is looked up in the path, then in the query, then in the body (`{body.name}`). A template that ends
with /* stands for everything below. Who is let in without asking is written out by name: ANYBODY,
or SIGNED_IN for every known user.

A handler that decides by what it finds, such as one of many keys in a body, declares EACH: the
names of what it will ask for, so that the document and the matrix of permissions show it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from string import Formatter
from typing import Final, Protocol

from lochan.access.needed import AllOf, Needed, Permission


class Said(Protocol):
    """What a request has said: the fields of its path, its query and its body."""

    @property
    def path(self) -> Mapping[str, str]:
        """Give the fields of the path."""

    @property
    def query(self) -> object | None:
        """Give the query's parameters."""

    @property
    def body(self) -> object | None:
        """Give the body."""


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


@dataclass(frozen=True, slots=True)
class Every:
    """Several permissions, all of which are needed."""

    needs: tuple[Need, ...]


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


def filler(needs: Need | Every, fields: Collection[str]) -> Callable[[Said], Needed]:
    """Make the function that fills templates in from a request; `fields` are those of its path."""
    if isinstance(needs, Every):
        several = [filler(need, fields) for need in needs.needs]
        return lambda said: AllOf(*(fill(said) for fill in several))
    action, below = needs.action, needs.resource.endswith("/*")
    literals, names = _parts(needs.resource)
    first = literals[0]
    rest = [
        (_getter(name, fields), literal) for name, literal in zip(names, literals[1:], strict=True)
    ]

    def fill(said: Said) -> Permission:
        resource = first
        for get, literal in rest:
            resource += get(said) + literal
        return Permission(action, resource, below=below)

    return fill


def _getter(name: str, fields: Collection[str]) -> Callable[[Said], str]:
    if name in fields:
        return lambda said: said.path[name]
    if name.startswith("body."):
        attribute = name.removeprefix("body.")
        return lambda said: str(getattr(said.body, attribute))
    return lambda said: str(getattr(said.query, name))


def _parts(template: str) -> tuple[list[str], list[str]]:
    literals, names = [""], []
    for literal, name, _, _ in Formatter().parse(template):
        literals[-1] += literal
        if name is not None:
            names.append(name)
            literals.append("")
    return literals, names
