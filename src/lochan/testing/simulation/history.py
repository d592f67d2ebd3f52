# SPDX-License-Identifier: Apache-2.0
"""What clients did and saw: one line an operation, for one checker that every test shares.

Stamps are places in one order of events. A -> B (A before B) means that A's response has a lower
stamp than B's invocation; nothing else is read from them. Every write carries an identity of its
own, so it is always known which write a read returned; None is the identity of "absent".

    kind     key      identity        value
    write    a key    what it wrote   -                 (None: a delete)
    read     a key    what it found   -
    list     a prefix -               (after, last, {key: identity}); last None: to the end
    commit   a prefix its id          {key: identity}, the whole tree under the prefix
    final    -        -               {key: identity}, everything when all is quiet

Results: OK; FAIL and UNKNOWN may have taken effect before their response and never after (G5);
REFUSED (PredicateFailed) took none and never will; PENDING has no response: its process died.

In a simulated world the stamp of an invocation is put off to the first step of the call: intervals
become as short as they can be, which orders more pairs and finds more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum

import msgspec

from lochan.errors import LochanError, PredicateFailed, UnknownOutcome


class Kind(StrEnum):
    """What was asked."""

    WRITE = "write"
    READ = "read"
    LIST = "list"
    COMMIT = "commit"
    FINAL = "final"


class Result(StrEnum):
    """How it ended, as the client was told."""

    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    PENDING = "pending"


Tree = Mapping[str, str]


class Listing(msgspec.Struct, frozen=True):
    """A page: the keys behind `after` up to `last` (None: all), in the order in which they came."""

    after: str
    last: str | None
    entries: tuple[tuple[str, str], ...]


class Operation(msgspec.Struct):
    """One call of one client; it is filled in while the call goes on."""

    kind: Kind
    key: str = ""
    identity: str | None = None
    tree: dict[str, str] | None = None
    listing: Listing | None = None
    invocation: int = -1
    response: int = -1
    result: Result = Result.PENDING


class History:
    """All operations of a run, in the order in which they were begun."""

    def __init__(
        self,
        later: Callable[[Callable[[], None]], None] | None = None,
        invoked: Callable[[], None] = lambda: None,
        responded: Callable[[], None] = lambda: None,
    ) -> None:
        """Stamp at once, or as the world says."""
        self.operations: list[Operation] = []
        self._later = later or (lambda stamp: stamp())
        self._invoked = invoked
        self._responded = responded
        self.stamps = 0

    def invoke(self, kind: Kind, key: str = "", identity: str | None = None) -> Operation:
        """Note that a call begins; end it with `respond`."""
        operation = Operation(kind, key, identity)
        self.operations.append(operation)

        def stamp() -> None:
            if operation.invocation < 0:
                self._invoked()
                operation.invocation = self._next()

        self._later(stamp)
        return operation

    def respond(self, operation: Operation, result: Result = Result.OK) -> None:
        """Note that a call has ended."""
        if operation.invocation < 0:  # a call without a single step
            self._invoked()
            operation.invocation = self._next()
        self._responded()
        operation.response = self._next()
        operation.result = result

    def write(self, key: str, identity: str | None, work: Callable[[], object]) -> None:
        """Record a write."""
        with self.call(Kind.WRITE, key, identity):
            work()

    def writes(self, changes: Mapping[str, str | None], work: Callable[[], object]) -> None:
        """Record one call that writes several keys."""
        with ExitStack() as calls:
            for key, identity in changes.items():
                calls.enter_context(self.call(Kind.WRITE, key, identity))
            work()

    def read(self, key: str, work: Callable[[], str | None]) -> str | None:
        """Record a read."""
        with self.call(Kind.READ, key) as operation:
            operation.identity = work()
        return operation.identity

    def commit(self, work: Callable[[], tuple[str, Tree]], prefix: str = "") -> None:
        """Record a commit by its id and tree; it speaks of the keys under `prefix` alone."""
        with self.call(Kind.COMMIT, prefix) as operation:
            operation.identity, tree = work()
            operation.tree = dict(tree)

    def list(self, prefix: str, work: Callable[[], Listing]) -> None:
        """Record a page of a listing."""
        with self.call(Kind.LIST, prefix) as operation:
            operation.listing = work()

    def final(self, tree: Tree) -> None:
        """Record what is there when all is quiet (G7)."""
        operation = self.invoke(Kind.FINAL)
        operation.tree = dict(tree)
        self.respond(operation)

    def lines(self) -> Iterator[bytes]:
        """Give the history as JSON, a line an operation."""
        encoder = msgspec.json.Encoder()
        return (encoder.encode(operation) for operation in self.operations)

    @contextmanager
    def call(self, kind: Kind, key: str = "", identity: str | None = None) -> Iterator[Operation]:
        """Record a call; an error ends it and goes on to the caller, a crash leaves it PENDING."""
        operation = self.invoke(kind, key, identity)
        try:
            yield operation
        except UnknownOutcome:
            self.respond(operation, Result.UNKNOWN)
            raise
        except PredicateFailed:
            self.respond(operation, Result.REFUSED)
            raise
        except LochanError:
            self.respond(operation, Result.FAIL)
            raise
        self.respond(operation)

    def _next(self) -> int:
        self.stamps += 1
        return self.stamps


def read_lines(lines: Iterable[bytes]) -> list[Operation]:
    """Read back what `History.lines` gave."""
    decoder = msgspec.json.Decoder(Operation)
    return [decoder.decode(line) for line in lines]
