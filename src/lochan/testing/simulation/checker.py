# SPDX-License-Identifier: Apache-2.0
"""The promises G1 to G7, checked on a history in n log n.

Let R read key k and find identity v. R keeps the promises if some write W of v to k is a candidate:

    G2  not (R -> W): W was invoked before R responded. What nobody wrote has no candidate.
    G1  no successful W' with W -> W' -> R. With bound(R) = the latest invocation among successful
        writes that responded before R was invoked, that is: W responded after bound(R).
    G5  failed and unknown writes are candidates like others, until a later success; refused ones
        never are; those without a response for ever.

"Absent" is what deletes wrote, and what every key is before its first write. A listing (G3) is a
read of every known key in its range, found or not found, and its keys ascend strictly. A commit's
tree (G4, and G6: what was acknowledged before it began is in it) is a read of every known key
within the commit's interval. What is there in the end (G7) is a read after everything.

Since identities are unique, one look-up decides each read: among the writes of v, sorted by
invocation, the latest response of those invoked before R responded.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from lochan.testing.simulation.history import Kind, Operation, Result

_NEVER = 1 << 62


class Violation(NamedTuple):
    """A broken promise: which, at which key, and how it shows."""

    promise: str
    key: str
    message: str


class _Written:
    """Writes of one identity to one key: the latest response among those invoked before a time."""

    def __init__(self, writes: Iterable[tuple[int, int]]) -> None:
        self._invocations: list[int] = []
        self._latest: list[int] = []
        for invocation, response in sorted(writes):
            earlier = self._latest[-1] if self._latest else -1
            self._invocations.append(invocation)
            self._latest.append(max(response, earlier))

    def latest_response(self, before: int) -> int:
        """Give it, or -2 where no write was invoked by then."""
        count = bisect_left(self._invocations, before)
        return self._latest[count - 1] if count else -2


class _Key:
    """All writes to one key, and what may be read when."""

    def __init__(self, writes: list[Operation], initial: str | None) -> None:
        by_identity: dict[str | None, list[tuple[int, int]]] = defaultdict(list)
        by_identity[initial].append((-1, -1))
        for write in writes:
            if write.result is not Result.REFUSED and write.invocation >= 0:
                response = _NEVER if write.result is Result.PENDING else write.response
                by_identity[write.identity].append((write.invocation, response))
        self._written = {identity: _Written(pairs) for identity, pairs in by_identity.items()}
        done = sorted((w.response, w.invocation) for w in writes if w.result is Result.OK)
        self._responses = [response for response, _ in done]
        self._bounds: list[int] = []
        for _, invocation in done:
            self._bounds.append(max(invocation, self._bounds[-1] if self._bounds else -1))

    def fault(self, identity: str | None, invocation: int, response: int) -> str | None:
        """Say what is wrong with finding this identity in this interval; None: nothing."""
        written = self._written.get(identity)
        latest = -2 if written is None else written.latest_response(response)
        if latest == -2:
            return "future"
        count = bisect_left(self._responses, invocation)
        bound = self._bounds[count - 1] if count else -1
        return None if latest >= bound else "lost"


_PROMISES = {
    Kind.READ: {"future": "G2", "lost": "G1"},
    Kind.LIST: {"future": "G3", "lost": "G3"},
    Kind.COMMIT: {"future": "G4", "lost": "G6"},
    Kind.FINAL: {"future": "G2", "lost": "G7"},
}
_WORDS = {
    "future": "which nobody had written by then",
    "lost": "though a later write had been acknowledged before",
}


def violations(
    operations: Iterable[Operation], initial: Mapping[str, str] | None = None
) -> Iterator[Violation]:
    """Give every breach of G1 to G7; `initial` is what was there before the first operation."""
    operations = list(operations)
    start = initial or {}
    writes: dict[str, list[Operation]] = {key: [] for key in start}
    for operation in operations:
        if operation.kind is Kind.WRITE:
            writes.setdefault(operation.key, []).append(operation)
    keys = {key: _Key(found, start.get(key)) for key, found in writes.items()}
    for operation in operations:
        if operation.kind is not Kind.WRITE and operation.result is Result.OK:
            yield from _order(operation)
            for key, identity in _seen(operation, sorted(keys)):
                found = keys.get(key) or _Key([], None)
                fault = found.fault(identity, operation.invocation, operation.response)
                if fault:
                    promise = _PROMISES[operation.kind][fault]
                    message = f"{operation.kind} found {identity} at {key}, {_WORDS[fault]}"
                    yield Violation(promise, key, message)


def check_history(
    operations: Iterable[Operation], initial: Mapping[str, str] | None = None
) -> None:
    """Raise AssertionError that names every breach."""
    found = list(violations(operations, initial))
    if found:
        raise AssertionError("; ".join(f"{v.promise}: {v.message}" for v in found))


def _order(operation: Operation) -> Iterator[Violation]:
    listing = operation.listing
    if listing is None:
        return
    keys = [key for key, _ in listing.entries]
    for one, other in pairwise([listing.after, *keys]):
        if one and one.encode() >= other.encode():
            yield Violation("G3", other, f"a listing gave {other} after {one}")
    for key in keys:
        beyond = listing.last is not None and key.encode() > listing.last.encode()
        if beyond or not key.startswith(operation.key):
            yield Violation("G3", key, f"a listing gave {key}, which it was not asked for")


def _seen(operation: Operation, known: list[str]) -> Iterator[tuple[str, str | None]]:
    """Give what an operation said of each key, known keys that it did not show included."""
    if operation.kind is Kind.READ:
        yield operation.key, operation.identity
        return
    if operation.listing is not None:
        listing = operation.listing
        shown = dict(listing.entries)
        known = [key for key in known if key.startswith(operation.key) and key > listing.after]
        if listing.last is not None:
            known = [key for key in known if key <= listing.last]
    else:
        shown = operation.tree or {}
        known = [key for key in known if key.startswith(operation.key)]
    for key in sorted({*known, *shown}):
        yield key, shown.get(key)
