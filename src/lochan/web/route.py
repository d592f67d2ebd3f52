# SPDX-License-Identifier: Apache-2.0
"""What a route declares: where it is, what it needs, what goes in and what comes out.

    ROUTES = Routes("branches")

    @ROUTES.get(
        "/repositories/{repository}/branches/{branch}",
        needs=Need("fs:ReadBranch", "arn:lakefs:fs:::repository/{repository}/branch/{branch}"),
        answers={200: Ref},
    )
    def get_branch(call: Call) -> Ref:
        \"""Give a branch and its commit.\"""

The declaration is all there is: requests are validated by it, permissions are asked by it, and the
OpenAPI document is made from it. The function's name is the operation's id (in lakeFS's spelling,
getBranch), its docstring the summary.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import msgspec

from lochan.web.call import Call
from lochan.web.needs import Needs


class Content(Enum):
    """Bodies that are no JSON."""

    OCTETS = "application/octet-stream"
    TEXT = "text/plain"
    NONE = ""


OCTETS: Final = Content.OCTETS
TEXT: Final = Content.TEXT
NOTHING: Final = Content.NONE

Shape = type[msgspec.Struct] | Content
Handler = Callable[[Call], object]


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

    @property
    def operation_id(self) -> str:
        """Spell the operation's name as lakeFS does: getBranch."""
        first, *rest = self.handler.__name__.rstrip("_").split("_")
        return first + "".join(word.capitalize() for word in rest)

    @property
    def status(self) -> int:
        """Give the status of an answer that says nothing else: the first declared."""
        return next(iter(self.answers))


@dataclass(frozen=True, slots=True)
class Routes:
    """The routes of one resource, in the order of their declaration."""

    tag: str
    routes: list[Route] = field(default_factory=list)

    def __iter__(self) -> Iterator[Route]:
        """Give all that were declared."""
        return iter(self.routes)

    def add(
        self,
        method: str,
        path: str,
        *,
        needs: Needs,
        answers: Mapping[int, Shape],
        query: type[msgspec.Struct] | None = None,
        body: Shape = NOTHING,
        body_optional: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Declare a route; `headers` are request headers that it heeds, with what they mean."""

        def declared(handler: Handler) -> Handler:
            self.routes.append(
                Route(
                    method, path, self.tag, needs, answers, query, body, body_optional,
                    headers or {}, handler,
                )
            )  # fmt: skip
            return handler

        return declared

    def get(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare what GET does at an address."""
        return self.add("GET", path, **declaration)

    def put(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare what PUT does at an address."""
        return self.add("PUT", path, **declaration)

    def post(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare what POST does at an address."""
        return self.add("POST", path, **declaration)

    def delete(self, path: str, **declaration: Any) -> Callable[[Handler], Handler]:
        """Declare what DELETE does at an address."""
        return self.add("DELETE", path, **declaration)
