# SPDX-License-Identifier: Apache-2.0
"""One thread writes for all: what many threads ask for shares one transaction and one fsync.

    callers             writer thread
    submit(work) --+
    submit(work) --+--> wait for the turn, BEGIN IMMEDIATE, every work in the order it came,
    submit(work) --+    COMMIT (write and fsync the log), then wake the callers
                        meanwhile the next batch gathers by itself: nobody sleeps to fill one.
                        Who comes while the turn is waited for is served in it, too

A caller may have records read at the end of the transaction that holds its write: nobody else can
write until it ends, so they are what is there when the write takes effect, and callers of a batch
that ask for the same ones share the look. In the same way the records that conditions name are read
once for a batch, after its other works: callers of a batch wait at the same time, so that each
order of their writes is right.

A caller returns only when its write is decided, also when it is interrupted; so no write of a
finished call takes effect later. What a failure proves:

    failed while...               the whole batch was...    then
    waiting for a lock            not applied               the writer goes on
    running works                 not applied               it goes on, or stops at a disk error
    COMMIT: no space left         not applied               it goes on
    COMMIT: anything else         nobody knows              it stops

After an fsync has failed, the kernel may call pages clean that never reached the disk, and a log
that holds the transaction may still be replayed at the next start. So nothing can be promised any
more, not even what is read: the store stops serving, and the next process to open the file
recovers it.
"""

import sqlite3
import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from lochan.environment import Environment
from lochan.errors import Internal, LochanError, Unavailable, UnknownOutcome
from lochan.kv.drivers.sqlite_file import code_name, primary_code
from lochan.kv.drivers.sqlite_turn import Turn
from lochan.kv.store import EXISTS, Place, Present

T = TypeVar("T")

# What a caller wants done inside the transaction; it says how many rows it changed.
Work = Callable[[sqlite3.Connection], int]
Row = tuple[bytes, bytes, bytes]  # partition, key, value
Predicates = Mapping[Place, Present | None]

GET = "SELECT value FROM kv WHERE partition = ? AND key = ?"
# Every step of a statement gives the interpreter away, and may have to wait to get it back. So rows
# that are only set go many to a statement, and so do looks. These sizes are few enough to be
# prepared once each; a smaller number is filled up by setting, or asking for, the last one again.
_TOGETHER = (1, 2, 4, 8, 16, 32, 64)
_SET = {
    count: "INSERT INTO kv (partition, key, value) VALUES "  # noqa: S608 - numbers and marks alone
    + ", ".join(["(?, ?, ?)"] * count)
    + " ON CONFLICT (partition, key) DO UPDATE SET value = excluded.value"
    for count in _TOGETHER
}
_LOOK = {count: f"SELECT {', '.join([f'({GET})'] * count)}" for count in _TOGETHER}

# Bounds how long the first of a batch waits for the last.
_LONGEST_BATCH = 1000

_NOT_APPLIED_AT_COMMIT = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL})
_DISK_ERRORS = frozenset(
    {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}
)


class _Failure(NamedTuple):
    """Why a batch failed; every caller gets an error of its own made from it."""

    kind: type[LochanError]
    message: str
    cause: BaseException
    code: str | None = None

    def as_error(self) -> LochanError:
        return self.kind(self.message, code=self.code)


class _Request:
    """One caller's work, and the lock it sleeps on until the work is decided."""

    __slots__ = (
        *("decided", "failure", "found", "is_decided"),
        *("places", "predicates", "rows", "sets", "work"),
    )

    def __init__(
        self,
        work: Work | None,
        sets: Sequence[Row] = (),
        places: Sequence[Place] = (),
        predicates: Predicates | None = None,
    ) -> None:
        self.work = work
        self.sets = sets  # what is set where there is no work
        self.places = places
        self.predicates = predicates  # on what condition; None: on none
        self.found: list[bytes | None] = []
        self.rows = 0
        self.failure: _Failure | None = None
        self.is_decided = False
        self.decided = threading.Lock()
        self.decided.acquire()

    def decide(self) -> None:
        self.is_decided = True
        self.decided.release()

    def wait(self) -> None:
        try:
            self.decided.acquire()
        except BaseException:
            # Interrupted (Ctrl-C): the write is on its way all the same, so its end is awaited.
            if not self.is_decided:
                self.decided.acquire()
            raise


class Writer:
    """Group commit: all writes of this process to one file, by one thread."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, turn: Turn, environment: Environment
    ) -> None:
        """Start the thread; from now on the connection belongs to it."""
        self._connection = connection
        self._path = path
        self._turn = turn
        self._changed = threading.Condition()
        self._waiting: deque[_Request] = deque()
        self._closing = False
        self._stopped: _Failure | None = None
        self._finished = threading.Event()
        self.batches = 0
        environment.spawn(self._serve, name=f"lochan kv writer {path.name}")

    def submit(self, work: Work) -> int:
        """Run work in a transaction, return when it is durable, and say how many rows it changed.

        Raises: Unavailable, UnknownOutcome.
        """
        return self._decided(_Request(work)).rows

    def set(self, rows: Sequence[Row], places: Sequence[Place] = ()) -> list[bytes | None]:
        """Store rows in a transaction, and give what lies at places in the end; None for nothing.

        Raises: Unavailable, UnknownOutcome.
        """
        return self._decided(_Request(None, rows, places)).found

    def set_if_all(self, row: Row, predicates: Predicates) -> bool:
        """Store a row if the record at each place meets its predicate, and say whether it did.

        Raises: Unavailable, UnknownOutcome.
        """
        return self._decided(_Request(None, (row,), (), predicates)).rows == 1

    def require_serving(self) -> None:
        """Raise Unavailable once the store is closed or has stopped after a disk error."""
        if self._stopped:
            message = f"{self._path} stopped serving ({self._stopped.message}); open it again"
            raise Unavailable(message, code="store-stopped") from self._stopped.cause
        if self._closing:
            raise Unavailable(f"{self._path} is closed", code="store-closed")

    def close(self) -> None:
        """Finish what was submitted, then end the thread. Idempotent."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._finished.wait()

    def _decided(self, request: _Request) -> _Request:
        with self._changed:
            self.require_serving()
            self._waiting.append(request)
            self._changed.notify()
        request.wait()
        if request.failure:
            raise request.failure.as_error() from request.failure.cause
        return request

    def _serve(self) -> None:
        try:
            while asked := self._asked():
                self._decide(asked)
        finally:
            self._finished.set()

    def _asked(self) -> int:
        """Wait until somebody waits, and say how many; 0 when the store was closed and none do."""
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            return len(self._waiting)

    def _taken(self, most: int = _LONGEST_BATCH) -> list[_Request]:
        with self._changed:
            count = min(len(self._waiting), most)
            return [self._waiting.popleft() for _ in range(count)]

    def _decide(self, asked: int) -> None:
        batch: list[_Request] = []
        failure = self._stopped
        try:
            if failure is None:
                with self._turn:
                    batch = self._taken()
                    failure = self._transact(batch)
        except Unavailable as error:
            # Only for those who have waited all the time: later ones wait on.
            failure = _Failure(Unavailable, error.message, error, error.code)
        except BaseException as error:  # noqa: BLE001 - nobody else would wake the callers
            message = f"a write to {self._path} met a bug: {error!r}"
            failure = self._stop(_Failure(UnknownOutcome, message, Internal(message)))
        for request in batch or self._taken(asked):
            request.failure = failure
            request.decide()

    def _transact(self, batch: list[_Request]) -> _Failure | None:
        committing = False
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._work(batch)
            self._look(batch)
            committing = True
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            return self._judge(error, committing=committing)
        self.batches += 1
        return None

    def _work(self, batch: list[_Request]) -> None:
        """Do what callers want, in the order in which they came; what has conditions last."""
        rows: list[Row] = []
        conditional: list[_Request] = []
        for request in batch:
            if request.predicates is not None:
                conditional.append(request)
                continue
            if request.work is None:
                rows.extend(request.sets)
                continue
            self._set(rows)
            rows = []
            request.rows = request.work(self._connection)
        self._set(rows)
        if conditional:
            self._set_if_all(conditional)

    def _set_if_all(self, batch: list[_Request]) -> None:
        known = self._read(place for request in batch for place in request.predicates or ())
        kept: dict[Place, bytes] = {}
        for request in batch:
            conditions = (request.predicates or {}).items()
            if all(_meets(known[place], predicate) for place, predicate in conditions):
                partition, key, value = request.sets[0]
                known[partition, key] = kept[partition, key] = value
                request.rows = 1
        self._set([(*place, value) for place, value in kept.items()])

    def _set(self, rows: list[Row]) -> None:
        for some in _filled(rows):
            self._connection.execute(_SET[len(some)], list(chain.from_iterable(some)))

    def _look(self, batch: list[_Request]) -> None:
        """Read what callers want to know, after all works of the batch; the same place once."""
        known = self._read(place for request in batch for place in request.places)
        for request in batch:
            request.found = [known[place] for place in request.places]

    def _read(self, places: Iterable[Place]) -> dict[Place, bytes | None]:
        known: dict[Place, bytes | None] = {}
        for some in _filled(list(dict.fromkeys(places))):
            asked = self._connection.execute(_LOOK[len(some)], list(chain.from_iterable(some)))
            known.update(zip(some, asked.fetchone(), strict=True))  # no value is NULL
        return known

    def _judge(self, error: sqlite3.Error, *, committing: bool) -> _Failure:
        """Say what a failure means for the batch, and stop where it means the end."""
        code = primary_code(error)
        what = f"{self._path}: {error} ({code_name(error)})"
        if committing and code not in _NOT_APPLIED_AT_COMMIT:
            unknown = _Failure(UnknownOutcome, f"{what}; nobody knows what was kept", error)
            return self._stop(unknown)
        failure = _Failure(Unavailable, f"{what}; nothing was written", error)
        try:
            if self._connection.in_transaction:  # some errors roll back by themselves
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            return self._stop(failure)
        return self._stop(failure) if code in _DISK_ERRORS else failure

    def _stop(self, failure: _Failure) -> _Failure:
        with self._changed:
            self._stopped = self._stopped or failure
        return failure


def _filled(items: list[T]) -> Iterator[list[T]]:
    """Cut a list into statements' sizes; the last may end with its last item several times."""
    most = _TOGETHER[-1]
    for at in range(0, len(items), most):
        some = items[at : at + most]
        yield some + some[-1:] * (_TOGETHER[bisect_left(_TOGETHER, len(some))] - len(some))


def _meets(value: bytes | None, predicate: Present | None) -> bool:
    return value is not None if predicate is EXISTS else value == predicate
