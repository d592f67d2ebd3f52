# SPDX-License-Identifier: Apache-2.0
"""Refs: what branches and tags point to, and what two refs have between them.

A merge that meets a conflict is answered with 409 and a `MergeResult` whose reference is empty,
not with an `Error`: clients read it so.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from lochan.shapes.fields import (
    ByteCount,
    Checksum,
    ContentType,
    Force,
    Metadata,
    PathType,
    UnixSeconds,
)
from lochan.shapes.pages import DEFAULT_AMOUNT, After, Amount, Delimiter, Pagination, Prefix

MetaRangeId = Annotated[str, Meta(description="Id of a metarange that the dump wrote.")]


class Ref(Struct, frozen=True, kw_only=True):
    """A branch or a tag."""

    id: Annotated[str, Meta(description="Its name.")]
    commit_id: Annotated[str, Meta(description="The commit it points to.")]


class RefList(Struct, frozen=True, kw_only=True):
    """A page of branches or tags, by name."""

    pagination: Pagination
    results: list[Ref]


class DiffObjectStat(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the right side of a diff has at a path."""

    checksum: Checksum
    mtime: UnixSeconds
    content_type: ContentType
    metadata: Metadata | None = None


class Diff(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path that differs, or one prefix below which something does."""

    type: Annotated[
        Literal["added", "removed", "changed", "conflict", "prefix_changed"],
        Meta(description="What happened to it; prefix_changed: to something below it."),
    ]
    path: Annotated[str, Meta(description="Path of the object, or the prefix.")]
    path_type: PathType
    size_bytes: ByteCount | None = None
    right: DiffObjectStat | None = None


class DiffList(Struct, frozen=True, kw_only=True):
    """A page of differences, in order of their paths."""

    pagination: Pagination
    results: list[Diff]


class DiffRefsQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page of what differs between two refs."""

    after: After = ""
    amount: Amount = DEFAULT_AMOUNT
    prefix: Prefix = ""
    delimiter: Delimiter = ""
    type: Annotated[
        Literal["two_dot", "three_dot"],
        Meta(description="Left against right, or what merging right into left would bring."),
    ] = "three_dot"
    include_right_stats: Annotated[
        bool, Meta(description="Describe what the right side has at each path.")
    ] = False


class Merge(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a ref is merged into a branch."""

    message: Annotated[str, Meta(description="The merge commit's message.")] = ""
    metadata: Metadata = {}
    strategy: Annotated[
        str,
        Meta(description="Who wins a conflict: dest-wins or source-wins; empty for nobody."),
    ] = ""
    force: Force = False
    allow_empty: Annotated[bool, Meta(description="Commit even without a change.")] = False
    squash_merge: Annotated[
        bool, Meta(description="Make a commit whose one parent is the branch's head.")
    ] = False


class MergeResult(Struct, frozen=True, kw_only=True):
    """What came of a merge."""

    reference: Annotated[str, Meta(description="The new commit; empty after a conflict.")]


class FindMergeBaseResult(Struct, frozen=True, kw_only=True):
    """Two commits and their best common ancestor."""

    source_commit_id: Annotated[str, Meta(description="The source's commit.")]
    destination_commit_id: Annotated[str, Meta(description="The destination's commit.")]
    base_commit_id: Annotated[str, Meta(description="The commit where the two parted.")]


class RefsDump(Struct, frozen=True, kw_only=True):
    """The files that hold all refs of a repository."""

    commits_meta_range_id: MetaRangeId
    tags_meta_range_id: MetaRangeId
    branches_meta_range_id: MetaRangeId


class RefsRestore(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The files to restore all refs from."""

    commits_meta_range_id: MetaRangeId
    tags_meta_range_id: MetaRangeId
    branches_meta_range_id: MetaRangeId
    force: Force = False
