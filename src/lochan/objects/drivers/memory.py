# SPDX-License-Identifier: Apache-2.0
"""Objects in memory: the plainest reading of the contract, for tests and small experiments.

`mem://name` opened again in the same process gives the same objects while somebody holds them open;
the last one to let go lets them vanish. The etag is the hex MD5 of the body, as S3's is.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple
from weakref import WeakValueDictionary

from lochan.environment import Environment
from lochan.errors import NotFound, Unavailable
from lochan.objects.body import chunks
from lochan.objects.joined import JoinedUploads
from lochan.objects.namespace import refuse_options, split_location
from lochan.objects.paging import Paging
from lochan.objects.preconditions import check_precondition
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Body,
    Extent,
    ObjectInfo,
    Page,
    Precondition,
    Reading,
    check_address,
    resolve,
)

_CHUNK = 1 << 20
_LAST_CHARACTER = "\U0010ffff"


class _Stored(NamedTuple):
    body: bytes
    info: ObjectInfo


class _Contents:
    """What all stores that were opened by one name share."""

    def __init__(self, lock: AbstractContextManager[object]) -> None:
        self.lock = lock
        self.objects: dict[str, _Stored] = {}
        self.order: tuple[str, ...] | None = ()  # the sorted addresses; None when they changed


# Named contents of this process; the one piece of state that a module keeps, because the name in
# mem://name means nothing else.
_named: WeakValueDictionary[str, _Contents] = WeakValueDictionary()


class MemoryObjects:
    """An `ObjectStore` in a dictionary."""

    def __init__(self, environment: Environment, name: str = "") -> None:
        """Share the contents of this name, or begin empty without one."""
        self._environment = environment
        new = _Contents(environment.lock())
        self._shared: _Contents | None = _named.setdefault(name, new) if name else new
        self.uploads = JoinedUploads(self, environment)

    @classmethod
    def open(cls, location: str, environment: Environment) -> "MemoryObjects":
        """Open `mem://name`."""
        namespace, options = split_location(location)
        refuse_options(namespace, options, frozenset())
        return cls(environment, str(namespace))

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Collect the body, then store it if the precondition holds."""
        check_address(address)
        whole = b"".join(chunks(body, size, address))
        etag = hashlib.md5(whole, usedforsecurity=False).hexdigest()
        info = ObjectInfo(len(whole), etag, self._environment.now())
        with self._contents.lock:
            current = self._contents.objects.get(address)
            check_precondition(when, current and current.info, address)
            if current is None:
                self._contents.order = None
            self._contents.objects[address] = _Stored(whole, info)
        return info

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Read from the version that is there now; later puts do not change it."""
        stored = self._find(address)
        start, stop = resolve(extent, stored.info.size, address)
        return Reading(stored.info, (start, stop), _slices(stored.body, start, stop), _nothing)

    def head(self, address: str) -> ObjectInfo:
        """Say what is stored."""
        return self._find(address).info

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """List from a sorted copy of the addresses, made again after they changed."""
        paging = Paging(prefix, delimiter, start_after, limit)
        contents = self._contents
        with contents.lock:
            if contents.order is None:
                contents.order = tuple(sorted(contents.objects))
            names = contents.order
            place = max(bisect_left(names, prefix), bisect_right(names, start_after))
            while place < len(names) and names[place].startswith(prefix):
                name = names[place]
                hidden_by = paging.hidden_by(name)
                if (not hidden_by or hidden_by > start_after) and paging.is_full():
                    break
                if hidden_by:
                    paging.add_prefix(hidden_by)
                    place = _behind(names, hidden_by, place)
                else:
                    paging.add(name, contents.objects[name].info)
                    place += 1
        return paging.page()

    def delete(self, *addresses: str) -> None:
        """Forget objects."""
        for address in addresses:
            check_address(address)
        contents = self._contents
        with contents.lock:
            for address in addresses:
                if contents.objects.pop(address, None) is not None:
                    contents.order = None

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Store the same bytes again."""
        return self.put(destination, self._find(source).body)

    def close(self) -> None:
        """Let go of the contents; others may hold them."""
        self._shared = None

    @property
    def _contents(self) -> _Contents:
        if self._shared is None:
            raise Unavailable("this store in memory has been closed; open it again")
        return self._shared

    def _find(self, address: str) -> _Stored:
        check_address(address)
        with self._contents.lock:
            stored = self._contents.objects.get(address)
        if stored is None:
            raise NotFound(f"there is no object {address}")
        return stored


def _slices(body: bytes, start: int, stop: int) -> Iterator[bytes]:
    if (start, stop) == (0, len(body)) and stop <= _CHUNK:
        yield body
        return
    for position in range(start, stop, _CHUNK):
        yield body[position : min(position + _CHUNK, stop)]


def _behind(names: tuple[str, ...], item: str, place: int) -> int:
    """Find the first name after all that begin with item; they are neighbours."""
    place = bisect_right(names, item + _LAST_CHARACTER, lo=place)
    while place < len(names) and names[place].startswith(item):
        place += 1
    return place


def _nothing() -> None:
    """Free nothing."""
