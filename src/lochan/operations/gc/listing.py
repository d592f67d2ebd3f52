# SPDX-License-Identifier: Apache-2.0
"""List the objects under data/, with their ages, to be looked through after the mark.

An object's age is that of its address, or that of the object where the store says it is younger: a
block has no time in its name, and a file of a job's own folder has that of the folder. What has no
time at all in its name is no object of ours, and is left alone. The list is kept in a file without
a name, since a lake may have more objects than memory has room for.
"""

from collections.abc import Iterator
from tempfile import TemporaryFile
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from lochan.model.instant import NANOSECONDS, Instant
from lochan.objects.address import BLOCKS, DATA, find_data
from lochan.objects.store import Listed, ObjectStore
from lochan.objects.walk import walk
from lochan.operations.gc.mark import Told, tell_nobody

_EVERY = 10_000


class Found(NamedTuple):
    """An object that is old enough to be collected, if it is dead."""

    address: str
    size: int
    made: Instant


class Listing:
    """The old objects of a namespace, and how many there are of all kinds."""

    def __init__(self) -> None:
        """Begin without any."""
        self._file = TemporaryFile()  # noqa: SIM115 - closed with the listing
        self.count = 0
        self.size = 0
        self.young = 0
        self.old = 0
        self.strange = 0

    def fill(self, objects: ObjectStore, young: Instant, told: Told = tell_nobody) -> None:
        """List all that is under data/. Raises Unavailable; never a shorter list."""
        for number, listed in enumerate(walk(objects, f"{DATA}/"), 1):
            self._add(listed, young)
            if number % _EVERY == 0:
                told("listed", number)
        told("listed", self.count)

    def __iter__(self) -> Iterator[Found]:
        """Give the old ones, in byte order."""
        self._file.seek(0)
        for line in self._file:
            yield msgspec.json.decode(line, type=Found)

    def _add(self, listed: Listed, young: Instant) -> None:
        self.count += 1
        self.size += listed.info.size
        made = made_at(listed)
        if made is None:
            self.strange += 1
        elif made >= young:
            self.young += 1
        else:
            self.old += 1
            row = Found(listed.address, listed.info.size, made)
            self._file.write(msgspec.json.encode(row) + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def made_at(listed: Listed) -> Instant | None:
    """Say how young an object may be; None for one that we did not make."""
    stored = listed.info.modified
    if is_block(listed.address):
        return Instant(int(stored * NANOSECONDS))
    address = find_data(listed.address)
    return None if address is None else Instant(int(max(address.created, stored) * NANOSECONDS))


def is_block(address: str) -> bool:
    """Say whether an object is a block, named by its content: it may be put again at any time."""
    return address.startswith(f"{BLOCKS}/")
