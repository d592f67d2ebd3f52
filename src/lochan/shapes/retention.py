# SPDX-License-Identifier: Apache-2.0
"""Retention: how long what no branch shows is kept, and what a collector is told to look at."""

from typing import Annotated

from msgspec import Meta, Struct

from lochan.shapes.errors import Error
from lochan.shapes.fields import BranchName, Timestamp

Days = Annotated[
    int, Meta(ge=0, le=2**31 - 1, description="Days for which replaced objects are kept.")
]
RunId = Annotated[str, Meta(description="Names this run of the collector.")]


class GarbageCollectionRule(Struct, frozen=True, kw_only=True):
    """How long one branch's history is kept."""

    branch_id: BranchName
    retention_days: Days


class GarbageCollectionRules(Struct, frozen=True, kw_only=True):
    """How long history is kept: by branch, and otherwise."""

    default_retention_days: Days
    branches: list[GarbageCollectionRule]


class GarbageCollectionConfig(Struct, frozen=True, kw_only=True):
    """What the collector must leave alone."""

    grace_period: Annotated[
        int, Meta(ge=0, description="Seconds for which every object is kept after it is written.")
    ]


class GarbageCollectionPrepareResponse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run of the collector reads about commits."""

    run_id: RunId
    gc_commits_location: Annotated[str, Meta(description="File of the commits, in the store.")]
    gc_addresses_location: Annotated[str, Meta(description="Where the collector writes.")]
    gc_commits_presigned_url: (
        Annotated[str, Meta(description="The file of the commits, as a signed URL.")] | None
    ) = None


class PrepareCommitsStatusQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which preparation is meant."""

    id: Annotated[str, Meta(min_length=1, description="What beginning it answered.")]


class PrepareGarbageCollectionCommitsStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How far a preparation has come."""

    task_id: Annotated[str, Meta(description="What beginning it answered.")]
    completed: Annotated[bool, Meta(description="Whether it is over, well or not.")]
    update_time: Timestamp
    result: GarbageCollectionPrepareResponse | None = None
    error: Error | None = None


class PrepareGCUncommittedRequest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where to go on; without it, a new run begins."""

    continuation_token: (
        Annotated[str, Meta(description="What the call before answered.")] | None
    ) = None


class PrepareGCUncommittedResponse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run of the collector reads about staged objects, a part at a time."""

    run_id: RunId
    gc_uncommitted_location: Annotated[str, Meta(description="Folder of the files, in the store.")]
    continuation_token: (
        Annotated[str, Meta(description="How to ask for the next part; absent from the last one.")]
        | None
    ) = None
