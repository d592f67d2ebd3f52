# SPDX-License-Identifier: Apache-2.0
"""Pages of listings, cut from what a story gives in order."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

from lochan.shapes.pages import DEFAULT_AMOUNT, MAX_AMOUNT, Pagination

Item = TypeVar("Item")


class Asked(Protocol):
    """What a query says of a page."""

    @property
    def amount(self) -> int:
        """Say how many at most."""

    @property
    def after(self) -> str:
        """Say behind which."""


class AskedByPrefix(Asked, Protocol):
    """What a query says of a page of names."""

    @property
    def prefix(self) -> str:
        """Say what names begin with."""


def page_of(
    items: Iterable[Item], asked: Asked, name_of: Callable[[Item], str]
) -> tuple[list[Item], Pagination]:
    """Take a page from items that come in order and begin behind `after`."""
    amount = amount_of(asked)
    found = list(islice(items, amount + 1))
    more = len(found) > amount
    del found[amount:]
    return found, pagination(len(found), name_of(found[-1]) if more else "")


def pagination(results: int, next_offset: str) -> Pagination:
    """Describe a page; an offset to go on from says that more follow."""
    return Pagination(
        has_more=bool(next_offset),
        next_offset=next_offset,
        results=results,
        max_per_page=MAX_AMOUNT,
    )


def amount_of(asked: Asked) -> int:
    """Say how many a page has at most."""
    return asked.amount if asked.amount > 0 else DEFAULT_AMOUNT


def start_of(asked: AskedByPrefix) -> str:
    """Give the least name that a page may hold: scans by seek begin there."""
    behind = f"{asked.after}\0" if asked.after else ""  # the least name after that one
    return max(asked.prefix, behind)


def named(
    items: Iterator[Item], asked: AskedByPrefix, name_of: Callable[[Item], str]
) -> Iterator[Item]:
    """Give the items whose names begin with the prefix, and look no further than the last."""
    for item in items:
        name = name_of(item)
        if name.startswith(asked.prefix):
            yield item
        elif name > asked.prefix:
            return
