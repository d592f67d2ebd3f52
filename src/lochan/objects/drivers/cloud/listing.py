# SPDX-License-Identifier: Apache-2.0
"""Pages of a listing on Google Cloud Storage and Azure, from what obstore offers.

obstore lists whole segments, and a level of folders only as a whole. So a prefix that ends inside a
segment costs a listing of the segment's folder, and a page with the delimiter "/" costs the level.
Our own listings, of `data/` and of one partition after the other, cost little more than they show.
A key that obstore cannot address makes the listing fail; it is not left out.
"""

from collections.abc import Iterator

import obstore

from lochan.errors import Unavailable
from lochan.objects.drivers.cloud.clients import Clients
from lochan.objects.drivers.cloud.failures import Attempt, told
from lochan.objects.drivers.cloud.paths import is_path
from lochan.objects.drivers.cloud.versions import info_of
from lochan.objects.paging import Paging
from lochan.objects.store import PAGE, ObjectInfo, Page

Item = tuple[str, ObjectInfo | None]  # an address and its object, or a common prefix and None


class FolderPages:
    """The listing of one namespace."""

    def __init__(self, clients: Clients, scheme: str) -> None:
        """List what these clients reach."""
        self._clients = clients
        self._scheme = scheme

    def page(self, prefix: str, delimiter: str, start_after: str, limit: int) -> Page:
        """Read as far as the page goes."""
        paging = Paging(prefix, delimiter, start_after, limit)
        items = self._level(prefix) if delimiter == "/" else self._all(prefix, start_after)
        hidden = ""
        for name, info in items:
            hidden_by = name if info is None else paging.hidden_by(name)
            if hidden_by and hidden_by == hidden:
                continue
            hidden = hidden_by
            if not name.startswith(prefix) or (hidden_by or name) <= start_after:
                continue
            if paging.is_full():
                break
            if hidden_by or info is None:
                paging.add_prefix(hidden_by)
            else:
                paging.add(name, info)
        return paging.page()

    def _level(self, prefix: str) -> list[Item]:
        level = prefix.rpartition("/")[0]
        with told(Attempt(f"the listing of {prefix!r}")):
            found = obstore.list_with_delimiter(self._clients.steady, level or None)
        items: list[Item] = [(f"{name}/", None) for name in found["common_prefixes"]]
        items += [(meta["path"], info_of(self._scheme, meta)) for meta in found["objects"]]
        return sorted(items, key=lambda item: item[0])

    def _all(self, prefix: str, start_after: str) -> Iterator[Item]:
        level = prefix.rpartition("/")[0]
        offset = start_after if is_path(start_after) and start_after > level else None
        with told(Attempt(f"the listing of {prefix!r}")):
            stream = obstore.list(
                self._clients.steady, level or None, offset=offset, chunk_size=PAGE
            )
        last = ""
        while True:
            with told(Attempt(f"the listing of {prefix!r}")):
                metas = next(stream, None)
            if metas is None:
                return
            for meta in metas:
                if meta["path"] <= last:
                    raise Unavailable(f"{self._scheme} lists out of order after {last}")
                last = meta["path"]
                yield last, info_of(self._scheme, meta)
