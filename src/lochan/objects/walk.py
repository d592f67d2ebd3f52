# SPDX-License-Identifier: Apache-2.0
"""Read a listing to its end, page by page; an error on any page is the walk's error."""

from collections.abc import Iterator

from lochan.objects.store import PAGE, Listed, ObjectStore


def walk(
    store: ObjectStore, prefix: str = "", *, start_after: str = "", limit: int = PAGE
) -> Iterator[Listed]:
    """Yield every object under a prefix, in byte order.

    Objects that come or go meanwhile may or may not be seen; all others are, once.
    """
    while True:
        page = store.list(prefix, start_after=start_after, limit=limit)
        yield from page.entries
        start_after = page.next_after
        if not start_after:
            return


def walk_prefixes(
    store: ObjectStore, prefix: str = "", *, delimiter: str = "/", limit: int = PAGE
) -> Iterator[str]:
    """Yield the common prefixes that a delimiter makes under a prefix, in byte order."""
    start_after = ""
    while True:
        page = store.list(prefix, delimiter=delimiter, start_after=start_after, limit=limit)
        yield from page.prefixes
        start_after = page.next_after
        if not start_after:
            return
