# SPDX-License-Identifier: Apache-2.0
"""Iteration over a table from a place on: what seed 000's iterators call SeekGE.

Every listing in this folder takes `start` and begins at the first name that is not smaller; nothing
needs to have that name. To go on after the last name of a page, start at `following(name)`.
"""

from collections.abc import Iterator
from typing import TypeVar

from lochan.kv.table import Table

T = TypeVar("T")


def scan_from(table: Table[T], start: str = "") -> Iterator[tuple[str, T]]:
    """Give (name, record) of all names from `start` on, in byte order.

    Raises: Unavailable, from any step: a scan that ends without raising has seen everything.
    """
    for key, value in table.store.scan(table.partition, table.prefix + start.encode()):
        if not key.startswith(table.prefix):
            return
        yield key.removeprefix(table.prefix).decode(), table.decode(value)


def following(name: str) -> str:
    """Give the least name that is greater than `name`."""
    return f"{name}\0"
