# SPDX-License-Identifier: Apache-2.0
"""Rows that join two things: written while both are there, removed only while they are the same.

A row's key ends in a name, and a name can be given to something new. So nobody overwrites or
removes a row that he has not just seen to be his, or seen to be of something that is gone.
"""

from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import TypeVar

from lochan.errors import Conflict, NotFound, PredicateFailed, UnknownOutcome
from lochan.kv.outcomes import ATTEMPTS, begun
from lochan.kv.table import Table

Row = TypeVar("Row")


def put_row(table: Table[Row], name: bytes, row: Row, check: Callable[[], None]) -> None:
    """Write a row if `check` finds what it joins still there; it raises NotFound if not.

    The row is read before the check. So if it is of something else, that was there before what the
    check found, and is gone. Whoever removes what belongs to a thing marks the thing first: a row
    that comes after the removal is found out by the second check, and taken back.
    """
    what = f"writing {name.decode()!r}"
    for attempt in range(ATTEMPTS):
        with begun(what) if attempt else nullcontext():
            found = table.find(name)
            check()
        if found is None or found.record != row:
            try:
                table.set_if(name, row, found.predicate if found else None)
            except (PredicateFailed, UnknownOutcome):  # what was lost or won is read again
                continue
        with begun(what):
            try:
                check()
            except NotFound:
                remove_row(table, name, row)
                raise
        return
    raise _contended(name)


def remove_row(table: Table[Row], name: bytes, row: Row) -> bool:
    """Remove a row if it is still this one; say whether it was there."""
    was_there = False
    for attempt in range(ATTEMPTS):
        with begun(f"removing {name.decode()!r}") if attempt else nullcontext():
            found = table.find(name)
        if found is None or found.record != row:
            return was_there
        was_there = True
        with suppress(PredicateFailed, UnknownOutcome):  # what became of it is read above
            table.delete_if(name, found.predicate)
            return True
    raise _contended(name)


def _contended(name: bytes) -> Conflict:
    message = f"the row {name.decode()!r} changed {ATTEMPTS} times; try again"
    return Conflict(message, code="contended")
