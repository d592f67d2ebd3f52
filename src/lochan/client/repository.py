# SPDX-License-Identifier: Apache-2.0
"""A repository: its branches, tags and commits, and the settings that hang on it."""

from collections.abc import Iterator
from typing import Self

from lochan.client import html
from lochan.client.branch import Branch
from lochan.client.commit import Commit
from lochan.client.pages import items
from lochan.client.pfs import Pfs
from lochan.client.reference import Reference
from lochan.client.repository_settings import RepositorySettings
from lochan.client.tag import Tag
from lochan.client.transport import Transport
from lochan.errors import AlreadyExists
from lochan.shapes import repositories
from lochan.shapes.branches import ListBranchesQuery
from lochan.shapes.pages import PageQuery
from lochan.shapes.refs import RefList
from lochan.shapes.repositories import (
    CreateRepositoryQuery,
    DeleteRepositoryQuery,
    RepositoryCreation,
)


class Repository:
    """A repository by its name; whether it exists shows when it is used."""

    def __init__(
        self, transport: Transport, id_: str, record: repositories.Repository | None = None
    ) -> None:
        """Name a repository."""
        self._transport = transport
        self.id = id_
        self.record = record  # as a list told when it gave this repository

    def create(
        self,
        storage_namespace: str = "",
        *,
        default_branch: str = "main",
        include_samples: bool = False,
        exist_ok: bool = False,
        bare: bool = False,
        read_only: bool = False,
    ) -> Self:
        """Make it, where nobody says otherwise below the server's own namespace.

        Raises AlreadyExists.
        """
        body = RepositoryCreation(
            name=self.id,
            storage_namespace=storage_namespace,
            default_branch=default_branch,
            sample_data=include_samples,
            read_only=read_only,
        )
        try:
            self._transport.call(
                "POST",
                ("repositories",),
                repositories.Repository,
                query=CreateRepositoryQuery(bare=bare),
                body=body,
            )
        except AlreadyExists as error:
            if not exist_ok or error.code == "namespace-in-use":
                raise
        return self

    def delete(self, *, force: bool = False) -> None:
        """Delete it; what it holds is removed behind the answer."""
        path = ("repositories", self.id)
        self._transport.send("DELETE", path, query=DeleteRepositoryQuery(force=force))

    @property
    def properties(self) -> repositories.Repository:
        """Give what is known of it, now. Raises RepositoryNotFound."""
        return self._transport.call("GET", ("repositories", self.id), repositories.Repository)

    @property
    def settings(self) -> RepositorySettings:
        """Give its metadata, protection rules and retention rules, and its refs as files."""
        return RepositorySettings(self._transport, self.id)

    @property
    def pfs(self) -> Pfs:
        """Give the verbs of 2016: commits that are started, filled and finished."""
        return Pfs(self._transport, self.id)

    def branch(self, name: str) -> Branch:
        """Name a branch."""
        return Branch(self._transport, self.id, name)

    def tag(self, name: str) -> Tag:
        """Name a tag."""
        return Tag(self._transport, self.id, name)

    def ref(self, reference: Reference | Commit | str) -> Reference:
        """Name anything that names a commit."""
        return Reference(self._transport, self.id, str(reference))

    def commit(self, reference: Reference | Commit | str) -> Commit:
        """Give a commit. Raises NotFound."""
        return self.ref(reference).get_commit()

    def branches(
        self,
        prefix: str = "",
        *,
        after: str = "",
        max_amount: int | None = None,
        show_hidden: bool = False,
    ) -> Iterator[Branch]:
        """Give its branches, by name."""
        path = ("repositories", self.id, "branches")

        def fetch(behind: str, amount: int) -> RefList:
            query = ListBranchesQuery(
                prefix=prefix, after=behind, amount=amount, show_hidden=show_hidden
            )
            return self._transport.call("GET", path, RefList, query=query)

        found = items(fetch, after=after, max_amount=max_amount)
        return (Branch(self._transport, self.id, ref.id, ref.commit_id) for ref in found)

    def tags(
        self, prefix: str = "", *, after: str = "", max_amount: int | None = None
    ) -> Iterator[Tag]:
        """Give its tags, by name."""
        path = ("repositories", self.id, "tags")

        def fetch(behind: str, amount: int) -> RefList:
            query = PageQuery(prefix=prefix, after=behind, amount=amount)
            return self._transport.call("GET", path, RefList, query=query)

        found = items(fetch, after=after, max_amount=max_amount)
        return (Tag(self._transport, self.id, ref.id, ref.commit_id) for ref in found)

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<Repository lochan://{self.id}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Repository)
            and self.id == other.id
            and self._transport is other._transport
        )

    def __hash__(self) -> int:
        return hash(self.id)

    def _repr_html_(self) -> str:
        known = self.properties
        return html.facts(
            f"repository {self.id}",
            {
                "default branch": known.default_branch,
                "made": html.moment(known.creation_date),
                "stored in": known.storage_namespace,
                "read only": known.read_only,
            },
        )
