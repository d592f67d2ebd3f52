# SPDX-License-Identifier: Apache-2.0
"""Pages of a listing: what is asked for, and what comes back beside the results.

`next_offset` is filled only when there is more, and goes back as `after`, which it excludes. An
`amount` of zero or less means the default.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

DEFAULT_AMOUNT: Final = 100
MAX_AMOUNT: Final = 1000

Prefix = Annotated[str, Meta(description="Give only what begins with this.")]
After = Annotated[str, Meta(description="Give only what comes behind this, in order.")]
Amount = Annotated[
    int,
    Meta(
        ge=-1,
        le=MAX_AMOUNT,
        description=f"How many to give at most; 0 and -1 stand for {DEFAULT_AMOUNT}.",
    ),
]
Delimiter = Annotated[
    str, Meta(description="Give paths that are equal up to the next delimiter as one prefix.")
]


class Pagination(Struct, frozen=True, kw_only=True):
    """Where a page ends."""

    has_more: Annotated[bool, Meta(description="Whether results follow this page.")]
    next_offset: Annotated[str, Meta(description="What to ask for as `after`; empty at the end.")]
    results: Annotated[int, Meta(ge=0, description="How many results this page has.")]
    max_per_page: Annotated[int, Meta(ge=0, description="The most that a page can have.")]


class PageQuery(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page of things that have names."""

    prefix: Prefix = ""
    after: After = ""
    amount: Amount = DEFAULT_AMOUNT
