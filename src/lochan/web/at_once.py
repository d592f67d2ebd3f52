# SPDX-License-Identifier: Apache-2.0
"""Requests whose answer lies in memory are answered at once, without a thread of their own.

What a commit id shows never changes, so most of what clients ask for by one is there already: who
asks, what they may do, the repository (all at most a second old) and the ranges of the commit. A
branch is read each time, where the store is a file of this machine and no network lies between. A
route that declares `at_once` is tried this way first. Nothing here waits for a server or for
somebody who writes, so that it may run on the event loop's own thread:

    the answer    sent as it is
    a `Fetch`     all is decided, and one small read is left, which a thread does
    None          anything else: unknown or not allowed, not in memory, wrong, or out of the
                  ordinary. The long way (`serve_call`) finds out what, and says or refuses it

So this way only ever gives what the long way would give with success, and it asks the same
questions of the same declaration: credentials, query, permission, the user's rate.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from lochan.access.authenticate import recall_user
from lochan.access.needed import Needed
from lochan.errors import Internal, LochanError
from lochan.web.authenticate import key_and_secret
from lochan.web.needs import Need, filler
from lochan.web.query import query_reader
from lochan.web.reply import JSON, Reply
from lochan.web.route import Glance, Route
from lochan.web.services import Services

_encoder = msgspec.json.Encoder()
_JSON_HEADERS: Final = (("content-type", JSON), ("x-content-type-options", "nosniff"))

_MOST_ASKED: Final = 2_000

Headers = Mapping[str, str]


class Answer(msgspec.Struct):
    """What is sent: a status, headers that may be added to, and the body."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


Fetch = Callable[[], Answer | None]  # None again: the long way


Glanced = tuple[Route, str, Answer | Fetch]  # which route, who asks, and what came of it


class AtOnce:
    """The routes that can be answered from memory."""

    def __init__(self, services: Services, routes: Iterable[Route], prefix: str) -> None:
        """Answer for those that declare it."""
        self._services = services
        self._ways = [
            _Way(services, route, prefix) for route in routes if route.at_once is not None
        ]
        # The same object is often asked for again, and what its address says never changes.
        self._asked = lru_cache(_MOST_ASKED)(self._read)

    def look(self, path: str, query: str, headers: Headers) -> Glanced | None:
        """Answer a GET without a body, or say nothing."""
        try:
            asked = self._asked(path, query)
            return asked.way.look(asked, headers) if asked is not None else None
        except LochanError:
            return None

    def _read(self, path: str, query: str) -> "_Asked | None":
        for way in self._ways:
            found = way.matches(path)
            if found is not None:
                return way.read(found.groupdict(), query)
        return None


class _Asked(NamedTuple):
    """What a path and a query say, whoever asks."""

    way: "_Way"
    path: Mapping[str, str]
    query: msgspec.Struct
    needed: Needed


class _Said(NamedTuple):
    """What a permission is filled in from."""

    path: Mapping[str, str]
    query: msgspec.Struct
    body: None = None


class _Way:
    """One route, made ready."""

    def __init__(self, services: Services, route: Route, prefix: str) -> None:
        if not isinstance(route.needs, Need) or route.query is None or route.at_once is None:
            raise Internal(f"{route.path} cannot be answered at once: it needs one permission")
        fields = re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", route.path)
        self.matches = re.compile(prefix + fields).fullmatch
        self._services = services
        self._route = route
        self._at_once = route.at_once
        self._query_of = query_reader(route.query)
        self._needed = filler(route.needs, re.findall(r"{(\w+)}", route.path))

    def read(self, fields: dict[str, str], query: str) -> _Asked:
        said = _Said(fields, self._query_of(query))
        return _Asked(self, fields, said.query, self._needed(said))

    def look(self, asked: _Asked, headers: Headers) -> Glanced | None:
        services = self._services
        credentials = key_and_secret(headers.get("authorization"))
        if credentials is None:
            return None
        principal = recall_user(services.access, *credentials)
        repository = services.repositories.recall(asked.path["repository"])
        if principal is None or repository is None or not principal.allows(asked.needed):
            return None
        found = self._at_once(Glance(services.lake, repository, asked.path, asked.query, headers))
        if found is None:
            return None
        services.admission.admit(principal.user)
        if isinstance(found, msgspec.Struct):
            return self._route, principal.user, _shape(self._route, found)
        fetch = found
        return self._route, principal.user, lambda: _fetched(self._route, fetch)


def _shape(route: Route, shape: msgspec.Struct) -> Answer:
    body = _encoder.encode(shape) + b"\n"
    return Answer(route.status, [*_JSON_HEADERS, ("content-length", str(len(body)))], body)


def _fetched(route: Route, fetch: Callable[[], Reply]) -> Answer | None:
    try:
        reply = fetch()
    except LochanError:
        return None
    assert isinstance(reply.body, bytes)  # noqa: S101 - what is fetched is small, and bytes
    length = ("content-length", str(len(reply.body)))
    return Answer(reply.status or route.status, [*reply.headers.items(), length], reply.body)
