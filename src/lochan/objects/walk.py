# SPDX-License-Identifier: Apache-2.0
"""Read a listing to its end, page by page; an error on any page is the walk's error."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Final, NamedTuple

from lochan.environment import Environment
from lochan.objects.store import PAGE, Listed, ObjectStore, Page

THREADS: Final = 16  # a cloud takes some 50 ms for a page
_PARTS: Final = 4 * THREADS  # folders are opened until there are so many


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


class _Part(NamedTuple):
    """What is still to be listed: all below a prefix, or one folder, from a name on."""

    prefix: str
    delimiter: str
    start_after: str = ""


def walk_beside(
    store: ObjectStore,
    environment: Environment,
    prefix: str = "",
    *,
    limit: int = PAGE,
    threads: int = THREADS,
) -> Iterator[Listed]:
    """Yield every object under a prefix, in no order: several pages are read beside each other.

    Folders are opened until there are enough to share out, then each is read with all below it. At
    most a few pages for each thread wait for the reader.
    """
    waiting, pages = deque([_Part(prefix, "/")]), deque[tuple[_Part, Future[Page]]]()
    with environment.executor(threads) as pool:
        while waiting or pages:
            while waiting and len(pages) < 2 * threads:
                part = waiting.popleft()
                pages.append((part, pool.submit(_page, store, part, limit)))
            part, future = pages.popleft()
            page = future.result()
            is_enough = len(waiting) + len(pages) + len(page.prefixes) >= _PARTS
            waiting.extend(_Part(found, "" if is_enough else "/") for found in page.prefixes)
            if page.next_after:
                waiting.appendleft(part._replace(start_after=page.next_after))
            yield from page.entries


def _page(store: ObjectStore, part: _Part, limit: int) -> Page:
    return store.list(
        part.prefix, delimiter=part.delimiter, start_after=part.start_after, limit=limit
    )
