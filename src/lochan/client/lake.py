# SPDX-License-Identifier: Apache-2.0
"""A lake: the root from which everything else is named."""

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO, Any, Self

from lochan.client import html
from lochan.client.groups import Groups
from lochan.client.jobs import Drive
from lochan.client.pages import items
from lochan.client.pipelines import Pipelines
from lochan.client.policies import Policies
from lochan.client.reference import Reference
from lochan.client.repository import Repository
from lochan.client.stored_object import StoredObject
from lochan.client.transport import Transport
from lochan.client.users import Users
from lochan.config.client import Credentials
from lochan.errors import InvalidInput
from lochan.model.uri import Uri, parse_uri
from lochan.pipelines.specs.decorators import Trial
from lochan.shapes.access import CurrentUser, User
from lochan.shapes.config import Config
from lochan.shapes.repositories import ListRepositoriesQuery, RepositoryList

_SHOWN = 50


class Lake:
    """A lake that is open; close it, or use it in a `with` block."""

    def __init__(
        self,
        transport: Transport,
        *,
        name: str,
        then: Callable[[], None] | None = None,
        credentials: Credentials | None = None,
        inside: object = None,
        trial: Trial | None = None,
        drive: Drive | None = None,
    ) -> None:
        """Speak through a transport; `then` ends what is behind.

        `name` is how it shows itself: a folder, or a server's URL. A lake in this process has no
        credentials, and is itself `inside`: what runs beside it needs no transport. `trial` tries a
        pipeline's function there, and `drive` runs jobs.
        """
        self.transport = transport
        self.name = name
        self.credentials = credentials
        self.inside = inside
        self.trial = trial
        self._drive = drive
        self._then = then

    def repository(self, name: str) -> Repository:
        """Name a repository."""
        return Repository(self.transport, name)

    def repositories(
        self,
        prefix: str = "",
        *,
        search: str = "",
        after: str = "",
        max_amount: int | None = None,
    ) -> Iterator[Repository]:
        """Give the repositories, by name."""

        def fetch(behind: str, amount: int) -> RepositoryList:
            query = ListRepositoriesQuery(prefix=prefix, search=search, after=behind, amount=amount)
            return self.transport.call("GET", ("repositories",), RepositoryList, query=query)

        found = items(fetch, after=after, max_amount=max_amount)
        return (Repository(self.transport, one.id, one) for one in found)

    def ref(self, uri: str) -> Reference:
        """Name a reference by its address: lochan://repository/ref, or lakefs://."""
        found = self._parsed(uri)
        if not found.ref or found.path:
            raise InvalidInput(f"{uri!r} names no reference; write lochan://repository/ref")
        return self.repository(found.repository).ref(found.ref)

    def object(self, uri: str) -> StoredObject:
        """Name an object by its address: lochan://repository/ref/path, or lakefs://."""
        found = self._parsed(uri)
        if not found.path:
            raise InvalidInput(f"{uri!r} names no object; write lochan://repository/ref/path")
        # As on a branch: whether the ref is one shows when it is written.
        return self.repository(found.repository).branch(found.ref).object(found.path)

    def open(self, uri: str, mode: str = "rb", **options: Any) -> IO[Any]:  # noqa: ANN401 - passed on
        """Open an object by its address as a file."""
        return self.object(uri).open(mode, **options)

    @property
    def config(self) -> Config:
        """Give what the server tells of itself and its storage."""
        return self.transport.call("GET", ("config",), Config)

    @property
    def user(self) -> User:
        """Say as whom we ask."""
        return self.transport.call("GET", ("user",), CurrentUser).user

    @property
    def users(self) -> Users:
        """Give the users, with their credentials."""
        return Users(self.transport)

    @property
    def groups(self) -> Groups:
        """Give the groups of users."""
        return Groups(self.transport)

    @property
    def policies(self) -> Policies:
        """Give the policies."""
        return Policies(self.transport)

    @property
    def pipelines(self) -> Pipelines:
        """Give the pipelines, and their jobs."""
        return Pipelines(self.transport, self._drive)

    def close(self) -> None:
        """Close what was opened. Idempotent."""
        self.transport.close()
        if self._then is not None:
            self._then()

    def _parsed(self, uri: str) -> Uri:
        found = parse_uri(uri)
        if found.server and found.server != self.transport.endpoint.partition("://")[2]:
            raise InvalidInput(f"{uri!r} is on another server than {self.name}; connect to it")
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Lake {self.name}>"

    def _repr_html_(self) -> str:
        rows = [(one.id,) for one in self.repositories(max_amount=_SHOWN)]
        return html.table(f"lake {self.name}", ("repository",), rows)
