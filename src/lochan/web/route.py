# SPDX-License-Identifier: Apache-2.0
"""What a route declares: where it is, what it needs, what goes in and what comes out.

    ROUTES = Routes("branches")

    @ROUTES.get(
        "/repositories/{repository}/branches/{branch}",
        needs=Need("fs:ReadBranch", "arn:lakefs:fs:::repository/{repository}/branch/{branch}"),
        answers={200: Ref},
    )
    def get_branch(call: Call) -> Ref: ...

The declaration is all there is: requests are validated by it, permissions are asked by it, and the
OpenAPI document is made from it. The function's name is the operation's id (in lakeFS's spelling,
getBranch), its docstring the summary.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NotRequired, TypedDict, Unpack

import msgspec

from lochan.model.records import Repository
from lochan.operations.lake import Lake
from lochan.web.call import Call
from lochan.web.needs import Needs
from lochan.web.reply import Reply


class Content(Enum):
    """Bodies that are no JSON."""

    OCTETS = "application/octet-stream"
    TEXT = "text/plain"
    NONE = ""


OCTETS: Final = Content.OCTETS
TEXT: Final = Content.TEXT
NOTHING: Final = Content.NONE

# A Struct, a plain list or mapping of such (lakeFS has a few), or what is no JSON.
Json = type[msgspec.Struct] | type[list[Any]] | type[dict[str, Any]]
Shape = Json | Content
Handler = Callable[[Call], object]


class Glance(msgspec.Struct, frozen=True):
    """A permitted request by somebody known, as far as memory tells."""

    lake: Lake
    repository: Repository
    path: Mapping[str, str]
    query: msgspec.Struct
    headers: Mapping[str, str]
    body: None = None


# Gives the answer, or what reads it by one small read, or None where that would not do.
AtOnce = Callable[[Glance], msgspec.Struct | Callable[[], Reply] | None]


@dataclass(frozen=True, slots=True)
class Route:
    """One method at one address."""

    method: str
    path: str
    tag: str
    needs: Needs
    answers: Mapping[int, Shape]
    query: type[msgspec.Struct] | None
    body: Shape
    body_optional: bool
    headers: Mapping[str, str]
    handler: Handler
    operation_id: str  # as lakeFS spells it: getBranch
    at_once: AtOnce | None = None

    @property
    def status(self) -> int:
        """Give the status of an answer that says nothing else: the first declared."""
        return next(iter(self.answers))


class Declaration(TypedDict):
    """What is said of a route; `headers` are request headers that it heeds, and their meaning.

    `at_once` answers without waiting where it can (see `at_once`).
    """

    needs: Needs
    answers: Mapping[int, Shape]
    query: NotRequired[type[msgspec.Struct] | None]
    body: NotRequired[Shape]
    body_optional: NotRequired[bool]
    headers: NotRequired[Mapping[str, str]]
    at_once: NotRequired[AtOnce]


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of one resource, in the order of their declaration."""

    tag: str
    routes: list[Route] = field(default_factory=list)

    def __iter__(self) -> Iterator[Route]:
        """Give all that were declared."""
        return iter(self.routes)

    def add(
        self, method: str, path: str, **declaration: Unpack[Declaration]
    ) -> Callable[[Handler], Handler]:
        """Declare what a method does at an address."""

        def declared(handler: Handler) -> Handler:
            self.routes.append(
                Route(
                    method,
                    path,
                    self.tag,
                    declaration["needs"],
                    declaration["answers"],
                    declaration.get("query"),
                    declaration.get("body", NOTHING),
                    declaration.get("body_optional", False),
                    declaration.get("headers", {}),
                    handler,
                    _operation_id(handler),
                    declaration.get("at_once"),
                )
            )
            return handler

        return declared

    def get(self, path: str, **said: Unpack[Declaration]) -> Callable[[Handler], Handler]:
        """Declare what GET does at an address."""
        return self.add("GET", path, **said)

    def put(self, path: str, **said: Unpack[Declaration]) -> Callable[[Handler], Handler]:
        """Declare what PUT does at an address."""
        return self.add("PUT", path, **said)

    def post(self, path: str, **said: Unpack[Declaration]) -> Callable[[Handler], Handler]:
        """Declare what POST does at an address."""
        return self.add("POST", path, **said)

    def delete(self, path: str, **said: Unpack[Declaration]) -> Callable[[Handler], Handler]:
        """Declare what DELETE does at an address."""
        return self.add("DELETE", path, **said)


def _operation_id(handler: Handler) -> str:
    first, *rest = handler.__name__.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)
