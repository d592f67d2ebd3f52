# SPDX-License-Identifier: Apache-2.0
"""Imports: objects that lie elsewhere come onto a branch by one commit, without being copied."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from lochan.shapes.commits import Commit, CommitCreation
from lochan.shapes.errors import Error
from lochan.shapes.fields import Force, PhysicalAddress, Timestamp


class ImportLocation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is imported, and where it goes."""

    type: Annotated[
        Literal["common_prefix", "object"],
        Meta(description="All objects below an address, or the one at it."),
    ]
    path: PhysicalAddress
    destination: Annotated[
        str, Meta(max_length=1024, description="Prefix, or path, of the objects on the branch.")
    ]
    inventory: (
        Annotated[
            str,
            Meta(
                max_length=2048,
                description="Address of a Parquet or CSV file that lists what lies below the path;"
                " without, the store is asked.",
            ),
        ]
        | None
    ) = None


class ImportCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An import to be begun."""

    paths: Annotated[list[ImportLocation], Meta(description="What is imported, from where.")]
    commit: CommitCreation
    force: Force = False


class ImportCreationResponse(Struct, frozen=True, kw_only=True):
    """An import that has begun."""

    id: Annotated[str, Meta(description="Names the import when it is asked about.")]


class ImportQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which import is meant."""

    id: Annotated[str, Meta(min_length=1, description="What beginning it answered.")]


class ImportStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far an import has come."""

    completed: Annotated[
        bool, Meta(description="Whether it is committed; one that failed has an error instead.")
    ]
    update_time: Timestamp
    ingested_objects: Annotated[int, Meta(ge=0, description="Objects found so far.")] | None = None
    metarange_id: Annotated[str, Meta(description="The tree it made.")] | None = None
    commit: Commit | None = None
    error: Error | None = None
