# SPDX-License-Identifier: Apache-2.0
"""What an operation of the file system declares: a route of its own, though all share an address.

Answers have no Content-Type: the client in Hadoop 3.5 breaks on any (its shaded jar lacks a class
that reads one) and takes an answer without one for JSON. A browser must not guess it, so each
answer forbids that, and is a download that runs nothing (S17).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, urlsplit

import msgspec

from lochan.config.values import Address
from lochan.web.call import Call
from lochan.web.needs import Needs
from lochan.web.reply import Reply
from lochan.web.route import NOTHING, OCTETS, Handler, Route, Shape

PREFIX: Final = "/webhdfs/v1"
PATH: Final = PREFIX + "/{repository}/{ref}/{path}"
REPOSITORY: Final = "arn:lakefs:fs:::repository/{repository}"
OBJECT: Final = REPOSITORY + "/object/{path}"

DISARMED: Final = {
    "cache-control": "no-store",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
}
_encode: Final = msgspec.json.Encoder().encode


class NoQuery(msgspec.Struct, frozen=True):
    """What an operation is told that heeds no parameter; clients send many."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A method, an `op`, and the route that serves both."""

    name: str
    route: Route


@dataclass(frozen=True, slots=True)
class Operations:
    """The operations of one file, in the order of their declaration."""

    operations: list[Operation] = field(default_factory=list)

    def __iter__(self) -> Iterator[Operation]:
        """Give all that were declared."""
        return iter(self.operations)

    def add(
        self,
        method: str,
        name: str,
        *,
        needs: Needs,
        query: type[msgspec.Struct] = NoQuery,
        status: int = 200,
        body: Shape = NOTHING,
    ) -> Callable[[Handler], Handler]:
        """Declare what a method does under a name."""

        def declared(handler: Handler) -> Handler:
            route = Route(
                method,
                PATH,
                "webhdfs",
                needs,
                {status: OCTETS},
                query,
                body,
                body_optional=False,
                headers={},
                handler=handler,
                operation_id=f"webhdfs{name}",
            )
            self.operations.append(Operation(name, route))
            return handler

        return declared


def told(body: object) -> Reply:
    """Answer with JSON."""
    return Reply(_encode(body), headers=DISARMED, content_type="")


def done(status: int | None = None, **headers: str) -> Reply:
    """Answer that something is done, where there is nothing to tell."""
    return Reply(b"", status, {**DISARMED, **headers}, content_type="")


def elsewhere(call: Call, more: str) -> Reply:
    """Send a client to the same address with more parameters, for the bytes.

    It comes back here, or to where this server has a port for bytes: a client sends its credentials
    to where it is sent, and offsets as parameters that no object store knows.
    """
    settings = call.services.settings
    server = settings.public_url.rstrip("/") or call.request.prefix
    if settings.webhdfs.listen is not None:
        server = _beside(server, settings.webhdfs.listen.port)
    place = "/".join(quote(call.path[name]) for name in ("repository", "ref", "path"))
    query = call.request.query_string
    return done(307, location=f"{server}{PREFIX}/{place}?{query}&{more}")


def _beside(server: str, port: int) -> str:
    """Name another port of a server; the same one for who came by TLS, which the other lacks."""
    try:
        parts = urlsplit(server)
        name = parts.hostname if parts.scheme == "http" else None
    except ValueError:  # a host that nobody can have
        return server
    return server if name is None else f"http://{Address(name, port)}"
