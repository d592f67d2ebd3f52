# SPDX-License-Identifier: Apache-2.0
"""One request as a handler sees it: who asks, for what, and the services that answer."""

from collections.abc import Mapping
from typing import IO, TypeVar

import falcon
import msgspec

from lochan.access.needed import Needed, Permission, permissions_of
from lochan.access.principal import Principal
from lochan.errors import Unauthenticated
from lochan.model.ids import BranchName
from lochan.model.records import Repository
from lochan.operations.lake import Lake
from lochan.web.environ import HEADERS, Headers
from lochan.web.services import Services

Shape = TypeVar("Shape", bound=msgspec.Struct)


class Call:
    """A validated, permitted request."""

    def __init__(
        self,
        services: Services,
        request: falcon.Request,
        path: Mapping[str, str],
        principal: Principal | None = None,
    ) -> None:
        """Hold what the request said; the rest is filled in as it becomes known."""
        self.services = services
        self.request = request
        self.path = path
        self.principal = principal
        self.query: msgspec.Struct | None = None
        self.body: msgspec.Struct | None = None
        # What the caller was allowed or not, of all that it asked for: see `audit`.
        self.granted: list[Permission] = []
        self.refused: list[Permission] = []
        self._repository: Repository | None = None

    @property
    def lake(self) -> Lake:
        """Give the lake; a caller that insists (`force`) gets one that does."""
        forced = getattr(self.query, "force", False) or getattr(self.body, "force", False)
        return self.services.lake.forcing() if forced else self.services.lake

    @property
    def repository(self) -> Repository:
        """Give the repository that the path names, at most a second old.

        Raises: RepositoryNotFound, RepositoryDeleting, InvalidInput.
        """
        if self._repository is None:
            self._repository = self.services.repositories.seen(self.path["repository"])
        return self._repository

    @property
    def branch(self) -> BranchName:
        """Give the branch that the path names."""
        return BranchName(self.path["branch"])

    def asked(self, shape: type[Shape]) -> Shape:
        """Give the query's parameters."""
        assert isinstance(self.query, shape)  # noqa: S101 - the route's declaration says so
        return self.query

    def told(self, shape: type[Shape]) -> Shape:
        """Give the body."""
        assert isinstance(self.body, shape)  # noqa: S101 - the route's declaration says so
        return self.body

    @property
    def headers(self) -> Headers:
        """Give the headers as they came, names in lower case."""
        found: Headers = self.request.env[HEADERS]
        return found

    @property
    def stream(self) -> IO[bytes]:
        """Give the body as it comes. Reading raises BodyBroken where it breaks off."""
        found: IO[bytes] = self.request.env["wsgi.input"]
        return found

    @property
    def address(self) -> str:
        """Give the network address of who asks."""
        return self.request.remote_addr or ""

    @property
    def user(self) -> Principal:
        """Give who asks. Raises Unauthenticated for nobody known."""
        if self.principal is None:
            raise Unauthenticated("this needs credentials; sign in or send an access key")
        return self.principal

    def may(self, needed: Needed) -> bool:
        """Say whether the caller is allowed something, for showing more or less."""
        return self.principal is not None and self.principal.allows(needed)

    def decide(self, one: Permission) -> bool:
        """Say whether the caller is allowed one of the many things that it asks for."""
        allowed = self.may(one)
        (self.granted if allowed else self.refused).append(one)
        return allowed

    def require(self, needed: Needed) -> None:
        """Refuse a caller that is not allowed something. Raises PermissionDenied."""
        self.user.require(needed)
        if isinstance(needed, Permission):
            self.granted.append(needed)
        else:
            self.granted.extend(permissions_of(needed))
