# SPDX-License-Identifier: Apache-2.0
"""One collection at a time: a row that says who collects, and until when.

A process that dies lets its row run out, and the next one takes over; what it left half done is
found by `trash`. One that was only slow finds out before its next step, and stops. Should both be
at work for a moment, no harm is done: what is said of commits and of a sweep changes by
compare-and-swap, what is dead stays dead, and moving it twice is moving it. What this does not
cover is a process that stands still for ten minutes between two requests to the object store: no
store can be told to refuse the second one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import msgspec

from lochan.errors import Conflict, Corruption, LochanError
from lochan.kv.table import Table
from lochan.model.instant import NANOSECONDS, Instant, from_seconds
from lochan.model.keys import GC, partition_of
from lochan.model.records import Repository
from lochan.operations.lake import Lake

LEASE_S: Final = 600.0
RENEWED_S: Final = 60.0
_NAME: Final = b"lease"


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    owner: str
    until: Instant
    epoch: int = 1


class Lease:
    """The right to collect, for as long as it is renewed."""

    def __init__(self, lake: Lake, repository: Repository) -> None:
        """Take it. Raises Conflict, code gc-running, where somebody else has it."""
        self._environment = lake.environment
        self._table = Table(lake.store, partition_of(repository), GC, msgspec.json.encode, _decode)
        self.owner = lake.environment.new_id()
        self._renewed = 0.0
        self._write(first=True)

    def renew(self) -> None:
        """Keep it, if it is time for that. Raises Conflict, code gc-lease-lost."""
        if self._environment.monotonic() - self._renewed >= RENEWED_S:
            self._write(first=False)

    def telling(self, told: Callable[[str, int], None]) -> Callable[[str, int], None]:
        """Keep it while long work tells how far it is."""

        def tell(what: str, count: int) -> None:
            self.renew()
            told(what, count)

        return tell

    def release(self) -> None:
        """Give it back, so that the next one need not wait."""
        found = self._table.find(_NAME)
        if found is not None and found.record.owner == self.owner:
            self._table.delete_if(_NAME, found.predicate)

    def _write(self, *, first: bool) -> None:
        now = from_seconds(self._environment.now())
        until = Instant(now + int(LEASE_S * NANOSECONDS))

        def taken(current: _Row | None) -> _Row:
            if current is not None and current.owner == self.owner:
                return _Row(owner=self.owner, until=until, epoch=current.epoch)
            if not first:
                raise Conflict("another collection took over; this one stops", code="gc-lease-lost")
            if current is not None and current.until > now:
                message = "a collection of this repository is under way; wait until it is over"
                raise Conflict(message, code="gc-running", owner=current.owner)
            return _Row(owner=self.owner, until=until, epoch=current.epoch + 1 if current else 1)

        self._table.update(_NAME, taken, self._environment, landed=self._landed)
        self._renewed = self._environment.monotonic()

    def _landed(self, now: _Row | None) -> bool | None:
        return True if now is not None and now.owner == self.owner else None


@contextmanager
def collecting(lake: Lake, repository: Repository) -> Iterator[Lease]:
    """Hold the lease while something is collected."""
    lease = Lease(lake, repository)
    try:
        yield lease
    finally:
        with suppress(LochanError):  # it runs out by itself
            lease.release()


def _decode(data: bytes) -> _Row:
    try:
        return msgspec.json.decode(data, type=_Row)
    except msgspec.DecodeError as error:
        raise Corruption(f"not a lease: {error}", file="gc/lease") from error
