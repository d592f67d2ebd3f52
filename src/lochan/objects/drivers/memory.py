# SPDX-License-Identifier: Apache-2.0
"""Objects in memory: the plainest reading of the contract, for tests and small experiments.

`mem://name` opened again in the same process gives the same objects while somebody holds them open;
the last one to let go lets them vanish. The etag is the hex MD5 of the body, as S3's is.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakValueDictionary

from lochan.environment import Environment
from lochan.errors import NotFound
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

# Named stores of this process; the one piece of state that a module keeps, because the name in
# mem://name means nothing else.
_named: "WeakValueDictionary[str, MemoryObjects]" = WeakValueDictionary()


class _Stored(NamedTuple):
    body: bytes
    info: ObjectInfo


class MemoryObjects:
    """An `ObjectStore` in a dictionary."""

    def __init__(self, environment: Environment) -> None:
        """Begin empty."""
        self._environment = environment
        self._lock = environment.lock()
        self._objects: dict[str, _Stored] = {}
        self._sorted: tuple[str, ...] | None = ()
        self.uploads = JoinedUploads(self, environment)

    @classmethod
    def open(cls, location: str, environment: Environment) -> "MemoryObjects":
        """Open `mem://name`."""
        namespace, options = split_location(location)
        refuse_options(namespace, options, frozenset())
        return _named.setdefault(str(namespace), cls(environment))

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Collect the body, then store it if the precondition holds."""
        check_address(address)
        whole = b"".join(chunks(body, size, address))
        etag = hashlib.md5(whole, usedforsecurity=False).hexdigest()
        info = ObjectInfo(len(whole), etag, self._environment.now())
        with self._lock:
            current = self._objects.get(address)
            check_precondition(when, current and current.info, address)
            if current is None:
                self._sorted = None
            self._objects[address] = _Stored(whole, info)
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
        with self._lock:
            if self._sorted is None:
                self._sorted = tuple(sorted(self._objects))
            names = self._sorted
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
                    paging.add(name, self._objects[name].info)
                    place += 1
        return paging.page()

    def delete(self, *addresses: str) -> None:
        """Forget objects."""
        with self._lock:
            for address in addresses:
                if self._objects.pop(address, None) is not None:
                    self._sorted = None

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Store the same bytes again."""
        return self.put(destination, self._find(source).body)

    def close(self) -> None:
        """Free nothing: others may hold the same store open."""

    def _find(self, address: str) -> _Stored:
        check_address(address)
        with self._lock:
            stored = self._objects.get(address)
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
