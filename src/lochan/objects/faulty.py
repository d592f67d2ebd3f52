# SPDX-License-Identifier: Apache-2.0
"""An object store that fails where a plan says so, around any other store.

A plan is asked before each call and answers with a fault (`lochan.faults` lists them; zombies are
refused here), or with Truncate(n): a put then sees a body that ends after n bytes, and other calls
go through.

Reads change nothing, so a read that loses request or response is Unavailable. A get asks as "get",
and as "get_next" before each chunk and before the end; every page of a listing is a "list". A put
that is truncated is refused by the store if its size was declared, and stored short if it was not:
that is what a caller risks who does not know how long its body should be.

Multipart goes through the plain verbs here, so that each part has its own place to fail.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from lochan.environment import Environment
from lochan.errors import InvalidInput, LochanError, Unavailable, UnknownOutcome
from lochan.faults import Crashed, Delay, Fault
from lochan.objects.body import chunks
from lochan.objects.joined import JoinedUploads
from lochan.objects.store import (
    ALWAYS,
    PAGE,
    WHOLE,
    Body,
    Chunk,
    Extent,
    ObjectInfo,
    ObjectStore,
    Page,
    Precondition,
    Reading,
)

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Truncate:
    """The body of a put ends after this many bytes."""

    size: int


class Call(NamedTuple):
    """One call to decide about.

    `number` counts all calls from 1, `nth` those of this operation; `address` is the first one, or
    the prefix of a listing.
    """

    number: int
    operation: str
    nth: int
    address: str


Plan = Callable[[Call], Fault | Delay | Truncate]


def no_faults(_: Call) -> Fault:
    """Let every call through."""
    return Fault.OK


def fail_nth(number: int, fault: Fault) -> Plan:
    """Let every call through but the n-th."""
    return lambda call: fault if call.number == number else Fault.OK


def fail_nth_page(number: int, fault: Fault = Fault.ERROR) -> Plan:
    """Let every call through but the n-th page of a listing."""
    return lambda call: fault if (call.operation, call.nth) == ("list", number) else Fault.OK


class Faulty:
    """An `ObjectStore` that does what its plan says to each call on its way to another store.

    It stands for one process: after a crash every further call crashes too, while the inner store
    lives on and may be wrapped anew.
    """

    def __init__(self, store: ObjectStore, plan: Plan, environment: Environment) -> None:
        """Stand between a caller and `store`."""
        self._store = store
        self._plan = plan
        self._environment = environment
        self._lock = environment.lock()
        self._counts: Counter[str] = Counter()
        self._crashed = False
        self.uploads = JoinedUploads(self, environment)

    @property
    def calls(self) -> int:
        """How many calls have been made so far."""
        return self._counts.total()

    def put(
        self, address: str, body: Body, *, size: int | None = None, when: Precondition = ALWAYS
    ) -> ObjectInfo:
        """Store a body, or fail as planned."""
        fault = self._decide("put", address)
        if isinstance(fault, Truncate):
            cut = _cut(body, fault.size, address)
            return self._store.put(address, cut, size=size, when=when)
        return self._write(fault, lambda: self._store.put(address, body, size=size, when=when))

    def get(self, address: str, extent: Extent = WHOLE) -> Reading:
        """Read an object, or fail as planned at any chunk or at the end."""
        fault = self._decide("get", address)
        inner = self._read(fault, lambda: self._store.get(address, extent))
        found = inner.start, inner.stop
        return Reading(inner.info, found, self._chunks(iter(inner), address), inner.close)

    def head(self, address: str) -> ObjectInfo:
        """Describe an object, or fail as planned."""
        return self._read(self._decide("head", address), lambda: self._store.head(address))

    def list(
        self, prefix: str = "", *, delimiter: str = "", start_after: str = "", limit: int = PAGE
    ) -> Page:
        """Give one page, or fail as planned."""
        return self._read(
            self._decide("list", prefix),
            lambda: self._store.list(
                prefix, delimiter=delimiter, start_after=start_after, limit=limit
            ),
        )

    def delete(self, *addresses: str) -> None:
        """Remove objects, or fail as planned."""
        fault = self._decide("delete", addresses[0] if addresses else "")
        self._write(fault, lambda: self._store.delete(*addresses))

    def copy(self, source: str, destination: str) -> ObjectInfo:
        """Copy an object, or fail as planned."""
        fault = self._decide("copy", source)
        return self._write(fault, lambda: self._store.copy(source, destination))

    def close(self) -> None:
        """Close the inner store."""
        self._store.close()

    def _decide(self, operation: str, address: str) -> Fault | Truncate:
        with self._lock:
            if self._crashed:
                raise Crashed(f"{operation} of {address!r} by a process that has crashed")
            self._counts[operation] += 1
            call = Call(self.calls, operation, self._counts[operation], address)
        fault = self._plan(call)
        if isinstance(fault, Delay):
            self._environment.sleep(fault.seconds)
            return Fault.OK
        return fault

    def _write(self, fault: Fault | Truncate, work: Callable[[], R]) -> R:
        if fault in {Fault.LOST_RESPONSE, Fault.CRASH_AFTER}:
            _quietly(work)
        match fault:
            case Fault.ERROR:
                raise Unavailable("planned fault: the write was not applied")
            case Fault.LOST_REQUEST | Fault.LOST_RESPONSE:
                raise UnknownOutcome(f"planned fault: {fault}")
            case Fault.CRASH_BEFORE | Fault.CRASH_AFTER:
                self._crash()
            case Fault.ZOMBIE:
                raise InvalidInput("zombies are for the KV; plan another fault for objects")
        return work()

    def _read(self, fault: Fault | Truncate, work: Callable[[], R]) -> R:
        if fault is Fault.OK or isinstance(fault, Truncate):
            return work()
        if fault in {Fault.CRASH_BEFORE, Fault.CRASH_AFTER}:
            self._crash()
        raise Unavailable(f"planned fault: {fault} of a read")

    def _chunks(self, inner: Iterator[bytes], address: str) -> Iterator[bytes]:
        while True:
            fault = self._decide("get_next", address)
            chunk = self._read(fault, lambda: next(inner, None))
            if chunk is None:
                return
            yield chunk

    def _crash(self) -> None:
        with self._lock:
            self._crashed = True
        raise Crashed("planned fault: the process dies")


def _cut(body: Body, size: int, address: str) -> Iterator[Chunk]:
    left = size
    for piece in chunks(body, None, address):
        if left:
            yield piece[:left]
        left = max(0, left - len(piece))


def _quietly(work: Callable[[], object]) -> None:
    """Let the store do its part; what it answers goes the way of the response, which is lost."""
    try:
        work()
    except LochanError:
        return
