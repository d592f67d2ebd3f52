# SPDX-License-Identifier: Apache-2.0
"""How users, groups and policies begin and end; what they have in common.

    begin   set_if(None): the second hears NotUnique; what is being deleted is first helped to its
            end
    end     1. active -> deleting     from then on nobody sees it and it grants nothing
            2. prune                  what belongs to it goes, row by row
            3. the record goes        delete_if on the `deleting` record; the name is free

Only the incarnation that was read is deleted: whoever wakes up late finds another identifier and
has nothing left to do. Every step may be repeated, by anybody.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from lochan.access.tables import scan_names
from lochan.environment import Environment
from lochan.errors import Conflict, LochanError, NotFound, NotUnique, PredicateFailed
from lochan.errors import UnknownOutcome as Unknown
from lochan.kv.outcomes import ATTEMPTS, begun
from lochan.kv.table import Stored, Table
from lochan.model.access import Entity, EntityState

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True)
class Kind(Generic[E]):
    """Users, groups or policies: their noun, their table, and what goes before one of them goes."""

    noun: str
    table: Table[E]
    prune: Callable[[E], None]


def create_entity(kind: Kind[E], wanted: E) -> E:
    """Store a new thing; its unique identifier was drawn before.

    Raises: NotUnique, Unavailable when nothing was made, UnknownOutcome.
    """
    name = wanted.name.encode()
    for _ in range(ATTEMPTS):
        unknown: LochanError | None = None
        try:
            kind.table.set_if(name, wanted, None)
        except PredicateFailed:
            found = kind.table.find(name)
        except Unknown as error:
            unknown = error
            with begun(f"creating {kind.noun} {wanted.name!r}"):
                found = kind.table.find(name)
        else:
            return wanted
        if found is None:
            continue
        if is_same(found.record, wanted):
            return wanted
        if found.record.state is EntityState.ACTIVE:
            message = f"there is a {kind.noun} {wanted.name!r} already; choose another name"
            raise NotUnique(message, code=f"{kind.noun}-already-exists") from unknown
        end_entity(kind, found)
    raise contended(kind, wanted.name)


def get_entity(kind: Kind[E], name: str) -> E:
    """Read what has this name. Raises NotFound."""
    found = kind.table.find(name.encode()) if is_storable(name) else None
    if found is None or found.record.state is not EntityState.ACTIVE:
        raise not_found(kind, name)
    return found.record


def check_entity(kind: Kind[E], known: E) -> None:
    """Check that the thing of this name is still the one known. Raises NotFound."""
    if not is_same(get_entity(kind, known.name), known):
        raise not_found(kind, known.name)


def update_entity(kind: Kind[E], known: E, change: Callable[[E], E], environment: Environment) -> E:
    """Replace the record of a thing by what a pure function makes of it.

    Raises: NotFound when it is not there any more, Conflict, Unavailable, UnknownOutcome.
    """

    def changed(found: E | None) -> E:
        if found is None or not is_same(found, known) or found.state is not EntityState.ACTIVE:
            raise not_found(kind, known.name)
        return change(found)

    stored = kind.table.update(known.name.encode(), changed, environment)
    if stored is None:
        raise not_found(kind, known.name)
    return stored


def delete_entity(kind: Kind[E], name: str) -> None:
    """Delete what has the name when this call reads it; repeating finishes what a crash left.

    Raises: NotFound, Unavailable when nothing was changed, UnknownOutcome.
    """
    found = kind.table.find(name.encode()) if is_storable(name) else None
    if found is None:
        raise not_found(kind, name)
    end_entity(kind, found)


def end_entity(kind: Kind[E], stored: Stored[E]) -> None:
    """Bring one incarnation to its end, from whatever state it is in."""
    marked = _mark(kind, stored)
    if marked is None:
        return
    name = marked.record.name.encode()
    with begun(f"deleting {kind.noun} {marked.record.name!r}"):
        kind.prune(marked.record)
        for _ in range(ATTEMPTS):
            found = kind.table.find(name)
            if found is None or not is_same(found.record, marked.record):
                return
            with suppress(PredicateFailed, Unknown):  # what became of it is read above
                kind.table.delete_if(name, found.predicate)
                return
    raise contended(kind, marked.record.name)


def list_entities(kind: Kind[E], prefix: str, after: str) -> Iterator[E]:
    """Give those whose names begin with `prefix` and follow `after`, by name."""
    found = scan_names(kind.table, prefix, after)
    return (record for record in found if record.state is EntityState.ACTIVE)


def is_same(one: Entity, other: Entity) -> bool:
    """Say whether two records are of one incarnation."""
    return one.unique_identifier == other.unique_identifier


def is_storable(name: str) -> bool:
    """Say whether anything could have this name; what cannot be a key is simply not found."""
    try:
        return 0 < len(name.encode()) <= 1024  # noqa: PLR2004 - below any store's limit for keys
    except UnicodeEncodeError:
        return False


def not_found(kind: Kind[E], name: str) -> NotFound:
    """Make the error for a name that nothing has."""
    return NotFound(f"there is no {kind.noun} {name[:80]!r}", code=f"{kind.noun}-not-found")


def contended(kind: Kind[E], name: str) -> Conflict:
    """Make the error for a record that never stood still."""
    message = f"the record of {kind.noun} {name!r} changed {ATTEMPTS} times; try again"
    return Conflict(message, code="contended")


def _mark(kind: Kind[E], stored: Stored[E]) -> Stored[E] | None:
    """Make an incarnation `deleting`; None when it has gone."""
    current = stored
    name = stored.record.name.encode()
    for _ in range(ATTEMPTS):
        if current.record.state is EntityState.DELETING:
            return current
        deleting = msgspec.structs.replace(current.record, state=EntityState.DELETING)
        with suppress(PredicateFailed, Unknown):  # what was lost or won is read below
            kind.table.set_if(name, deleting, current.predicate)
        with begun(f"deleting {kind.noun} {stored.record.name!r}"):
            found = kind.table.find(name)
        if found is None or not is_same(found.record, stored.record):
            return None
        current = found
    raise contended(kind, stored.record.name)
