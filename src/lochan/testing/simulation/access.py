# SPDX-License-Identifier: Apache-2.0
"""What a step of a process touched, and when the order of two steps can matter.

A step is everything between two switches. Its footprint is a set of accesses to things: records,
objects, locks, events, the clock, the history. Two steps are *dependent* when some pair of their
accesses is, and only the order of dependent steps can make two executions differ:

    READ, WRITE   of the same thing: dependent unless both read. A thing with part None is the whole
                  of its space (a listing) and meets every part; a Span (a page of a scan) meets
                  the keys that lie in it.
    INVOKE, RESPOND   dependent on each other, since A responds before B is invoked is what the
                  promises speak of; two invocations, or two responses, are not.
    ACQUIRE       two acquisitions of a lock are dependent.
    SIGNAL, WAIT  one lets the other happen (setting and waiting, releasing and acquiring, spawning
                  and starting). That orders them, and cannot be turned round.
    AGAIN         a signal that came too late to let anything happen. Had it come first, it would
                  have been the signal.
    KILL          a crash: dependent on every step of the node, which each READ it. The steps that
                  the dead would have taken are on no trace, so whoever can go before a crash is
                  tried before it.
"""

from enum import IntEnum, auto
from typing import NamedTuple


class Mode(IntEnum):
    """How a step touched a thing; a number, because it is hashed at every step."""

    READ = auto()
    WRITE = auto()
    INVOKE = auto()
    RESPOND = auto()
    ACQUIRE = auto()
    SIGNAL = auto()
    WAIT = auto()
    AGAIN = auto()
    KILL = auto()


class Span(NamedTuple):
    """All keys from the first to the last, both included; last None: to the end."""

    first: bytes
    last: bytes | None

    def holds(self, part: object) -> bool:
        """Say whether a key lies in it."""
        if not isinstance(part, bytes) or part < self.first:
            return False
        return self.last is None or part <= self.last


class Access(NamedTuple):
    """One touch: a space (a partition, say), a part of it, and how."""

    space: object
    part: object
    mode: Mode


Footprint = frozenset[Access]

_CONFLICTS = {
    (Mode.READ, Mode.WRITE),
    (Mode.WRITE, Mode.READ),
    (Mode.WRITE, Mode.WRITE),
    (Mode.INVOKE, Mode.RESPOND),
    (Mode.RESPOND, Mode.INVOKE),
    (Mode.ACQUIRE, Mode.ACQUIRE),
    (Mode.READ, Mode.KILL),
    (Mode.KILL, Mode.READ),
    (Mode.KILL, Mode.KILL),
    (Mode.SIGNAL, Mode.AGAIN),
    (Mode.AGAIN, Mode.SIGNAL),
}
_ORDERS = {(Mode.SIGNAL, Mode.WAIT), (Mode.SIGNAL, Mode.ACQUIRE)}


def _meet(one: Access, other: Access) -> bool:
    if one.space != other.space:
        return False
    if one.part == other.part or one.part is None or other.part is None:
        return True
    return any(
        isinstance(a, Span) and a.holds(b)
        for a, b in ((one.part, other.part), (other.part, one.part))
    )


class Relation(NamedTuple):
    """How a later step relates to an earlier one."""

    conflict: bool  # their order can matter, so the other must be tried
    locks: bool  # both take the same lock
    enabled: bool  # the earlier let the later happen


def relate(earlier: Footprint, later: Footprint) -> Relation:
    """Compare every access of one step with every access of the other."""
    modes = {(a.mode, b.mode) for a in earlier for b in later if _meet(a, b)}
    return Relation(
        not modes.isdisjoint(_CONFLICTS),
        (Mode.ACQUIRE, Mode.ACQUIRE) in modes,
        not modes.isdisjoint(_ORDERS),
    )


class Relations:
    """Relations worked out once; the same few footprints meet again in every execution."""

    def __init__(self) -> None:
        """Know none yet."""
        self._footprints: dict[Footprint, Footprint] = {}
        self._relations: dict[int, dict[int, Relation]] = {}

    def known(self, footprint: Footprint) -> Footprint:
        """Give the one object that stands for all equal footprints."""
        return self._footprints.setdefault(footprint, footprint)

    def relate(self, earlier: Footprint, later: Footprint) -> Relation:
        """Relate two footprints that `known` gave."""
        return self.to(later).get(id(earlier)) or self.learn(earlier, later)

    def to(self, later: Footprint) -> dict[int, Relation]:
        """Give what is known of a footprint's relations, by the id of the earlier one."""
        found = self._relations.get(id(later))
        if found is None:
            found = self._relations[id(later)] = {}
        return found

    def learn(self, earlier: Footprint, later: Footprint) -> Relation:
        """Work a relation out, and keep it."""
        relation = self.to(later)[id(earlier)] = relate(earlier, later)
        return relation
