# SPDX-License-Identifier: Apache-2.0
"""Clocks: a commit's place in history as numbers, and what two commits are to each other by them.

These are ours, not lakeFS's. A clock's last component is the commit's own place; a component's
`branch` is a line of commits, not a branch's name (`lochan.model.clock`).
"""

from typing import Annotated

from msgspec import Meta, Struct

from lochan.shapes.fields import RefExpression

CommitName = Annotated[
    str, Meta(description="A commit as repo/branch/int, or its hash where no branch numbers it.")
]
CommitId = Annotated[str, Meta(description="A commit's hash.")]


class Clock(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One component of a commit's clock."""

    branch: Annotated[str, Meta(description="Id of a line of commits.")]
    commit: Annotated[int, Meta(ge=0, description="Place on that line, from 0.")]


class CommitClocks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A commit under both its names, and its clock."""

    ID: CommitName
    id: CommitId
    clocks: list[Clock]


class CommitClocksQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose clock is asked for."""

    commit: RefExpression


class KinshipQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two commits to be compared."""

    one: RefExpression
    other: RefExpression


class Kinship(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What two commits are to each other; a commit is its own ancestor here."""

    one: CommitId
    other: CommitId
    one_is_ancestor: Annotated[bool, Meta(description="Whether `one` is behind `other`.")]
    other_is_ancestor: Annotated[bool, Meta(description="Whether `other` is behind `one`.")]
    merge_base: (
        Annotated[
            str, Meta(description="Hash of the best common ancestor; absent if there is none.")
        ]
        | None
    ) = None
    ahead: Annotated[int, Meta(ge=0, description="Commits that only `one` has behind it.")]
    behind: Annotated[int, Meta(ge=0, description="Commits that only `other` has behind it.")]


class HistorySpansQuery(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The commits between two, as places."""

    to_commit: RefExpression
    from_commit: Annotated[
        str, Meta(description="Leave out this commit and all that are behind it.")
    ] = ""
    strict: Annotated[
        bool, Meta(description="Refuse a `from_commit` that is no ancestor of `to_commit`.")
    ] = False


class Span(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Neighbours on one line of commits, both ends included."""

    branch: Annotated[str, Meta(description="Id of a line of commits.")]
    first: Annotated[int, Meta(ge=0, description="The first place.")]
    last: Annotated[int, Meta(ge=0, description="The last place.")]


class HistorySpans(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The commits between two: a commit is at every place of every span."""

    commits: Annotated[int, Meta(ge=0, description="How many they are.")]
    spans: list[Span]
