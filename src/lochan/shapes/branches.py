# SPDX-License-Identifier: Apache-2.0
"""Branches: made, listed, deleted, reset, and moved by reverting and cherry-picking.

A branch is described by `refs.Ref`, a page of them by `refs.RefList`. A branch that was made is
answered with its commit id as plain text.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from lochan.shapes.fields import BranchName, Force, Metadata, RefExpression
from lochan.shapes.pages import DEFAULT_AMOUNT, After, Amount, Delimiter, PageQuery, Prefix

ParentNumber = Annotated[
    int, Meta(ge=0, le=2**31 - 1, description="Which parent of a merge commit, from 1.")
]


class BranchCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A branch to be made."""

    name: BranchName
    source: RefExpression
    force: Force = False
    hidden: Annotated[bool, Meta(description="Leave it out of ordinary lists.")] = False


class ListBranchesQuery(PageQuery, frozen=True, kw_only=True, omit_defaults=True):
    """A page of branches."""

    show_hidden: Annotated[bool, Meta(description="Give hidden branches, too.")] = False


class DeleteBranchQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a branch is deleted."""

    force: Force = False


class DiffBranchQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page of a branch's changes that are not committed."""

    after: After = ""
    amount: Amount = DEFAULT_AMOUNT
    prefix: Prefix = ""
    delimiter: Delimiter = ""


class ResetCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which changes to drop that are not committed."""

    type: Annotated[
        Literal["object", "common_prefix", "reset"],
        Meta(description="One object's, those below a prefix, or all."),
    ]
    path: Annotated[str, Meta(description="The object or the prefix.")] = ""
    force: Force = False


class HardResetQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a branch is set to."""

    ref: RefExpression
    force: Force = False


class CommitOverrides(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a commit made from another says instead of what that one says."""

    message: Annotated[str, Meta(description="The new commit's message.")] = ""
    metadata: Metadata = {}


class RevertCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit to be undone by a new one."""

    ref: RefExpression
    parent_number: ParentNumber
    commit_overrides: CommitOverrides | None = None
    force: Force = False
    allow_empty: Annotated[bool, Meta(description="Commit even without a change.")] = False


class CherryPickCreation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A commit whose changes are to be made again."""

    ref: RefExpression
    parent_number: ParentNumber | None = None
    commit_overrides: CommitOverrides | None = None
    force: Force = False
