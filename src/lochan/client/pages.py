# SPDX-License-Identifier: Apache-2.0
"""Lists that fetch a page when they need it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from lochan.shapes.pages import MAX_AMOUNT, Pagination

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)


class Page(Protocol[Item_co]):
    """What every list of the API answers."""

    @property
    def pagination(self) -> Pagination:
        """Say where the page ends."""

    @property
    def results(self) -> Sequence[Item_co]:
        """Give what is on it."""


def items(
    fetch: Callable[[str, int], Page[Item]], *, after: str = "", max_amount: int | None = None
) -> Iterator[Item]:
    """Give all items behind `after`, at most `max_amount`; `fetch` takes after and amount."""
    left = max_amount
    while left is None or left > 0:
        page = fetch(after, MAX_AMOUNT if left is None else min(left, MAX_AMOUNT))
        yield from page.results
        if left is not None:
            left -= len(page.results)
        if not page.pagination.has_more:
            return
        after = page.pagination.next_offset
