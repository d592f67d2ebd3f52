# SPDX-License-Identifier: Apache-2.0
"""Commits: made from what is staged, described, listed as a log, and recorded from elsewhere."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from lochan.shapes.fields import (
    MAX_SIZE,
    Force,
    Metadata,
    ObjectPath,
    Timestamp,
    UnixSeconds,
)
from lochan.shapes.pages import DEFAULT_AMOUNT, After, Amount, Pagination
from lochan.shapes.provenance import AllProvenance, DirectProvenance

Message = Annotated[str, Meta(description="What the commit is about.")]
CommitHash = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}$", description="Whole id of a commit, 64 hexadecimal digits.")
]
TreeHash = Annotated[
    str,
    Meta(
        pattern="^([0-9a-f]{64})?$",
        description="Id of a metarange, 64 hexadecimal digits; empty for the tree without entries.",
    ),
]
Generation = Annotated[
    int, Meta(ge=0, le=MAX_SIZE, description="One more than the largest of the parents'.")
]
Version = Annotated[
    int, Meta(ge=0, le=1, description="Which kind of record; 1 since parents come in order.")
]


class CommitCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit to be made of what a branch has staged."""

    message: Message
    metadata: Metadata = {}
    date: UnixSeconds | None = None
    allow_empty: Annotated[bool, Meta(description="Commit even without a change.")] = False
    force: Force = False


class CommitQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a commit is made of, if not of staged changes."""

    source_metarange: Annotated[
        str, Meta(description="A metarange to commit as it is; the branch has nothing staged.")
    ] = ""


class Commit(Struct, frozen=True, kw_only=True):
    """A commit."""

    id: Annotated[str, Meta(description="The commit's id, a hash of the rest.")]
    parents: Annotated[list[str], Meta(description="Ids of the commits right before it.")]
    committer: Annotated[str, Meta(description="Who made it.")]
    message: Message
    creation_date: UnixSeconds
    meta_range_id: Annotated[str, Meta(description="Id of its tree.")]
    metadata: Metadata = {}
    generation: Generation = 0
    version: Version = 1
    # Not lakeFS's, whose clients do not look at them; with getCommit alone.
    provenance: AllProvenance | UnsetType = UNSET
    direct_provenance: DirectProvenance | UnsetType = UNSET


class CommitList(Struct, frozen=True, kw_only=True):
    """A page of a log, newest first."""

    pagination: Pagination
    results: list[Commit]


class CommitRecordCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit that exists elsewhere, to be recorded under the id that it has there."""

    commit_id: CommitHash
    version: Version
    committer: Annotated[str, Meta(description="Who made it.")]
    message: Message
    metarange_id: TreeHash
    creation_date: UnixSeconds
    parents: list[CommitHash]
    metadata: Metadata = {}
    generation: Generation
    force: Force = False


class LogCommitsQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page of a log; of paths several may be given, and a commit counts that changed one."""

    after: After = ""
    amount: Amount = DEFAULT_AMOUNT
    objects: Annotated[
        tuple[ObjectPath, ...], Meta(description="Give only commits that changed these objects.")
    ] = ()
    prefixes: Annotated[
        tuple[str, ...], Meta(description="Give only commits that changed something below these.")
    ] = ()
    limit: Annotated[
        bool, Meta(description="Look for no more than `amount`; has_more is then false.")
    ] = False
    first_parent: Annotated[bool, Meta(description="Follow first parents alone.")] = False
    since: Timestamp | None = None
    stop_at: Annotated[
        str, Meta(description="Ref of the last commit to give; those before it are left out.")
    ] = ""
