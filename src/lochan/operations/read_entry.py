# SPDX-License-Identifier: Apache-2.0
"""Read the bytes that an entry stands for: one object, or the blocks of a file one after another.

    no blocks    the object at `address`: relative to the repository's namespace, or in full
    blocks       `size` bytes from `offset` on at each block's address, in their order

An object that Lochan did not write can change or vanish where it lies. A size other than at its
import is an error, so that nobody takes other bytes for those that were committed.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lochan.errors import Conflict, InvalidInput, NotFound, ObjectExpired
from lochan.model.entry import Block, Entry
from lochan.model.ids import StorageNamespace
from lochan.model.instant import NANOSECONDS
from lochan.model.records import Repository
from lochan.objects.foreign import is_full, split_foreign
from lochan.objects.namespace import Namespace
from lochan.objects.store import (
    WHOLE,
    Extent,
    ObjectInfo,
    ObjectStore,
    Reading,
    Span,
    resolve,
)
from lochan.operations.lake import Lake
from lochan.refs.expired import has_expired

Open = Callable[[str, Extent], Reading]  # a part of the object at an address


def read_entry(lake: Lake, repository: Repository, entry: Entry, extent: Extent = WHOLE) -> Reading:
    """Read an entry's bytes, or a part of them.

    Raises: NotFound when an object is gone, which may show while reading where there are several
    blocks; ObjectExpired when it was collected; InvalidInput for an address that no driver opens;
    Conflict for a foreign object that is not what it was.
    """
    return read_placed(partial(_opened, lake, repository), entry, extent)


def read_placed(opened: Open, entry: Entry, extent: Extent = WHOLE) -> Reading:
    """Read an entry's bytes where the caller knows how its addresses are opened."""
    if entry.is_of_blocks:
        return _read_blocks(opened, entry, extent)
    reading = opened(entry.address, extent)
    if reading.info.size != entry.size:
        reading.close()
        raise Conflict(
            f"object {entry.address!r} has {reading.info.size} bytes and had {entry.size}; somebody"
            " changed it where it lies, import it again",
            code="object-changed",
        )
    return reading


def _opened(lake: Lake, repository: Repository, address: str, extent: Extent) -> Reading:
    store, name = locate(lake, repository, address)
    try:
        return store.get(name, extent)
    except NotFound as error:
        if is_full(address) or not has_expired(lake.store, repository):
            raise
        raise ObjectExpired(
            f"the object at {address!r} was collected: no commit that the rules of retention keep"
            " holds it any more; `lochan gc undo` brings it back while it is in the trash",
            address=address,
        ) from error


def locate(lake: Lake, repository: Repository, address: str) -> tuple[ObjectStore, str]:
    """Find the store that keeps an address, and its name there. Raises InvalidInput."""
    if not is_full(address):
        return lake.storage(repository.storage_namespace).objects, address
    inside = Namespace.parse(repository.storage_namespace).find_address(address)
    if inside is not None:
        return lake.storage(repository.storage_namespace).objects, inside
    namespace, name = split_foreign(address)
    return store_of(lake, namespace, address), name


def store_of(lake: Lake, namespace: StorageNamespace, address: str) -> ObjectStore:
    """Open the store that keeps an address in full. Raises InvalidInput where no driver does."""
    try:
        return lake.storage(namespace).objects
    except InvalidInput as error:
        message = f"no driver opens {namespace}, where object {address!r} lies: {error}"
        raise InvalidInput(message, code="unknown-driver") from error


def _read_blocks(opened: Open, entry: Entry, extent: Extent) -> Reading:
    start, stop = resolve(extent, entry.size, f"a file of {len(entry.blocks)} blocks")
    blocks = _Blocks(opened, _cut(entry.blocks, start, stop))
    info = ObjectInfo(entry.size, entry.e_tag, entry.last_modified / NANOSECONDS)
    return Reading(info, (start, stop), iter(blocks), blocks.close)


def _cut(blocks: Sequence[Block], start: int, stop: int) -> list[tuple[str, Span]]:
    """Say which bytes of which objects hold a file's bytes start to stop - 1."""
    parts, position = [], 0
    for block in blocks:
        first, last = max(start - position, 0), min(stop - position, block.size)
        if first < last:
            parts.append((block.address, Span(block.offset + first, block.offset + last)))
        position += block.size
    return parts


class _Blocks:
    """Parts of objects, opened one after the other."""

    def __init__(self, opened: Open, parts: Sequence[tuple[str, Span]]) -> None:
        self._opened = opened
        self._parts = parts
        self._open: Reading | None = None

    def __iter__(self) -> Iterator[bytes]:
        for address, span in self._parts:
            self._open = self._opened(address, span)
            yield from self._open

    def close(self) -> None:
        """Close the part that is being read, if any."""
        if self._open is not None:
            self._open.close()
