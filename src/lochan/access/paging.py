# SPDX-License-Identifier: Apache-2.0
"""One page of a listing, as lakeFS's API has them: go on by giving `next_offset` as `after`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, TypeVar

from lochan.errors import InvalidInput

DEFAULT_AMOUNT: Final = 100

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Page(Generic[T_co]):
    """Some results, and the name of the last one if there are more."""

    results: tuple[T_co, ...]
    next_offset: str = ""

    @property
    def has_more(self) -> bool:
        """Say whether another page follows."""
        return bool(self.next_offset)


def page_of(rows: Iterator[T], amount: int, name: Callable[[T], str]) -> Page[T]:
    """Take a page from the beginning of what is left to list."""
    if amount < 1:
        raise InvalidInput(f"a page has at least one result, not {amount}", code="invalid-amount")
    results = tuple(islice(rows, amount))
    more = len(results) == amount and next(rows, None) is not None
    return Page(results, name(results[-1]) if more else "")
