# SPDX-License-Identifier: Apache-2.0
"""A store that fails where a plan says so, around any other store.

A plan is asked before each call and answers with a fault (`lochan.faults` lists them). A zombie's
write takes effect when `wake_zombies` is called.

Reads change nothing, so a read that loses request or response is Unavailable. A zombie breaks
promise K7.

A scan asks as "scan" when it begins, and as "scan_next" before each row and before its end: failing
the last of these is how "an error read as the end of data" is found. Only the seven operations are
offered: bulk capabilities of the inner store stay hidden, so that each key has its own place to
fail.

"Fail the n-th operation, for all n":

    for n in itertools.count(1):
        faulty = Faulty(store, fail_nth(n, Fault.LOST_RESPONSE), environment)
        ... run, recover, check ...
        if faulty.calls < n:
            break
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from lochan.environment import Environment
from lochan.errors import LochanError, Unavailable, UnknownOutcome
from lochan.faults import Crashed, Delay, Fault
from lochan.kv.store import Pair, Present, Store, Versioned

R = TypeVar("R")


class Call(NamedTuple):
    """One call to decide about: its number from 1 on, the operation, and where it goes."""

    number: int
    operation: str
    partition: bytes
    key: bytes


Plan = Callable[[Call], Fault | Delay]


def no_faults(_: Call) -> Fault | Delay:
    """Let every call through."""
    return Fault.OK


def fail_nth(number: int, fault: Fault) -> Plan:
    """Let every call through but the n-th."""
    return lambda call: fault if call.number == number else Fault.OK


class Faulty:
    """A Store that does what its plan says to each call on its way to another store.

    It stands for one process: after a crash every further call crashes too, while the inner store
    lives on and may be wrapped anew.
    """

    def __init__(self, store: Store, plan: Plan, environment: Environment) -> None:
        """Stand between a caller and `store`."""
        self._store = store
        self._plan = plan
        self._environment = environment
        self._lock = environment.lock()
        self._zombies: list[Callable[[], None]] = []
        self._crashed = False
        self.calls = 0

    def get(self, partition: bytes, key: bytes) -> Versioned:
        """Read one record, or fail as planned."""
        fault = self._decide("get", partition, key)
        return self._read(fault, lambda: self._store.get(partition, key))

    def set(self, partition: bytes, key: bytes, value: bytes) -> None:
        """Store a record, or fail as planned."""
        fault = self._decide("set", partition, key)
        self._write(fault, lambda: self._store.set(partition, key, value))

    def set_if(self, partition: bytes, key: bytes, value: bytes, predicate: Present | None) -> None:
        """Store a record if the stored one meets the predicate, or fail as planned."""
        fault = self._decide("set_if", partition, key)
        self._write(fault, lambda: self._store.set_if(partition, key, value, predicate))

    def delete(self, partition: bytes, key: bytes) -> None:
        """Remove a record, or fail as planned."""
        fault = self._decide("delete", partition, key)
        self._write(fault, lambda: self._store.delete(partition, key))

    def delete_if(self, partition: bytes, key: bytes, predicate: Present) -> None:
        """Remove a record if the stored one meets the predicate, or fail as planned."""
        fault = self._decide("delete_if", partition, key)
        self._write(fault, lambda: self._store.delete_if(partition, key, predicate))

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        """Give all pairs from `start` on, or fail as planned at any row or at the end."""
        fault = self._decide("scan", partition, start)
        pairs = self._read(fault, lambda: self._store.scan(partition, start))
        return self._rows(pairs, partition, start)

    def close(self) -> None:
        """Close the inner store."""
        self._store.close()

    def wake_zombies(self) -> int:
        """Let the writes that were reported as unknown take effect now; count them."""
        with self._lock:
            zombies, self._zombies = self._zombies, []
        for work in zombies:
            _quietly(work)
        return len(zombies)

    def _decide(self, operation: str, partition: bytes, key: bytes) -> Fault:
        with self._lock:
            if self._crashed:
                raise Crashed(f"{operation} of {key!r} by a process that has crashed")
            self.calls += 1
            call = Call(self.calls, operation, partition, key)
        fault = self._plan(call)
        if isinstance(fault, Delay):
            self._environment.sleep(fault.seconds)
            return Fault.OK
        return fault

    def _write(self, fault: Fault, work: Callable[[], None]) -> None:
        match fault:
            case Fault.OK:
                work()
            case Fault.ERROR:
                raise Unavailable("planned fault: the write was not applied")
            case Fault.LOST_REQUEST:
                raise UnknownOutcome("planned fault: the request was lost")
            case Fault.LOST_RESPONSE:
                _quietly(work)
                raise UnknownOutcome("planned fault: the response was lost")
            case Fault.ZOMBIE:
                with self._lock:
                    self._zombies.append(work)
                raise UnknownOutcome("planned fault: the write takes effect later")
            case Fault.CRASH_BEFORE:
                self._crash()
            case Fault.CRASH_AFTER:
                _quietly(work)
                self._crash()

    def _read(self, fault: Fault, work: Callable[[], R]) -> R:
        if fault is Fault.OK:
            return work()
        if fault in {Fault.CRASH_BEFORE, Fault.CRASH_AFTER}:
            self._crash()
        raise Unavailable(f"planned fault: {fault} of a read")

    def _rows(self, pairs: Iterator[Pair], partition: bytes, last: bytes) -> Iterator[Pair]:
        while True:
            fault = self._decide("scan_next", partition, last)
            pair = self._read(fault, lambda: next(pairs, None))
            if pair is None:
                return
            last = pair[0]
            yield pair

    def _crash(self) -> None:
        with self._lock:
            self._crashed = True
        raise Crashed("planned fault: the process dies")


def _quietly(work: Callable[[], None]) -> None:
    """Let the store do its part; what it answers goes the way of the response, which is lost."""
    try:
        work()
    except LochanError:
        return
