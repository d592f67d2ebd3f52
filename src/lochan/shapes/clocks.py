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
