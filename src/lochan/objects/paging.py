# SPDX-License-Identifier: Apache-2.0
"""The rules of a listing, for drivers that walk their addresses in byte order by themselves."""

from lochan.errors import InvalidInput
from lochan.objects.store import Listed, ObjectInfo, Page


class Paging:
    """Collects one page from addresses that arrive in byte order."""

    def __init__(self, prefix: str, delimiter: str, start_after: str, limit: int) -> None:
        """Take the arguments of `ObjectStore.list`."""
        if limit < 1:
            raise InvalidInput(f"a page holds at least one item, not {limit}")
        self.prefix = prefix
        self.start_after = start_after
        self._delimiter = delimiter
        self._limit = limit
        self._entries: list[Listed] = []
        self._prefixes: list[str] = []
        self._last = ""
        self._more = False

    def hidden_by(self, address: str) -> str:
        """Name the common prefix that stands for an address, or "" when it is shown itself."""
        if not self._delimiter:
            return ""
        end = address.find(self._delimiter, len(self.prefix))
        return "" if end < 0 else address[: end + len(self._delimiter)]

    def add(self, address: str, info: ObjectInfo) -> None:
        """Show an object. Requires: not full, and greater than start_after."""
        self._entries.append(Listed(address, info))
        self._last = address

    def add_prefix(self, prefix: str) -> None:
        """Show a common prefix, unless it is not greater than start_after. Requires: not full."""
        if prefix > self.start_after:
            self._prefixes.append(prefix)
            self._last = prefix

    def is_full(self) -> bool:
        """Say, when another item has been met, whether it must wait for the next page."""
        self._more = len(self._entries) + len(self._prefixes) >= self._limit
        return self._more

    def page(self) -> Page:
        """Give what was collected."""
        return Page(tuple(self._entries), tuple(self._prefixes), self._last if self._more else "")
