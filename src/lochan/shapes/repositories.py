# SPDX-License-Identifier: Apache-2.0
"""Repositories: made, described, listed, deleted, and the metadata that hangs on them.

A repository's metadata is answered as a plain object of keys and values, without a shape around it.
"""

from typing import Annotated

from msgspec import Meta, Struct

from lochan.shapes.fields import BranchName, Force, Metadata, RepositoryName, UnixSeconds
from lochan.shapes.pages import PageQuery, Pagination

StorageNamespace = Annotated[
    str,
    Meta(
        pattern="^.+://.+$",
        description="Where the repository keeps its data, as in s3://bucket/prefix.",
        examples=["local://my-lake"],
    ),
]
ChosenNamespace = Annotated[
    str,
    Meta(
        pattern="^(.+://.+)?$",
        description="Where the repository keeps its data; empty for a place that the server has.",
        examples=["local://my-lake"],
    ),
]
StorageId = Annotated[str, Meta(description="Which configured store; empty for the only one.")]


class RepositoryCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A repository to be made."""

    name: RepositoryName
    storage_namespace: ChosenNamespace
    storage_id: StorageId = ""
    default_branch: BranchName = "main"
    sample_data: Annotated[bool, Meta(description="Put a few example objects in.")] = False
    read_only: Annotated[bool, Meta(description="Refuse writes that are not forced.")] = False


class Repository(Struct, frozen=True, kw_only=True):
    """A repository."""

    id: Annotated[str, Meta(description="The repository's name.")]
    creation_date: UnixSeconds
    default_branch: Annotated[str, Meta(description="The branch that cannot be deleted.")]
    storage_id: StorageId = ""
    storage_namespace: Annotated[str, Meta(description="Where the repository keeps its data.")]
    read_only: Annotated[bool, Meta(description="Whether writes must be forced.")] = False


class RepositoryList(Struct, frozen=True, kw_only=True):
    """A page of repositories, by name."""

    pagination: Pagination
    results: list[Repository]


class RepositoryMetadataSet(Struct, frozen=True, kw_only=True):
    """Metadata to be added to a repository's, key by key."""

    metadata: Metadata


class RepositoryMetadataKeys(Struct, frozen=True, kw_only=True):
    """Metadata to be taken from a repository."""

    keys: Annotated[list[str], Meta(description="The keys to be removed.")]


class ListRepositoriesQuery(PageQuery, frozen=True, kw_only=True, omit_defaults=True):
    """A page of repositories."""

    search: Annotated[str, Meta(description="Give only names that hold this text.")] = ""


class CreateRepositoryQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a repository is made."""

    bare: Annotated[
        bool, Meta(description="Make neither branch nor first commit: for restoring refs.")
    ] = False


class DeleteRepositoryQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a repository is deleted."""

    force: Force = False
