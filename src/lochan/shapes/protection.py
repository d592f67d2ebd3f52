# SPDX-License-Identifier: Apache-2.0
"""Branch protection: which branches take no writes and no commits but by merging.

The rules of a repository are read and set together, as a plain list; an ETag tells one list from
the next.
"""

from typing import Annotated

from msgspec import Meta, Struct

Pattern = Annotated[
    str,
    Meta(min_length=1, description="Names of branches; * and ? stand for any letters."),
]


class BranchProtectionRule(Struct, frozen=True, kw_only=True):
    """The branches whose names match are protected."""

    pattern: Pattern


class InternalDeleteBranchProtectionRuleRequest(Struct, frozen=True, kw_only=True):
    """A rule to be taken away, as older clients do it."""

    pattern: Pattern
