# SPDX-License-Identifier: Apache-2.0
"""Change one record by a pure function: read, compute, compare-and-swap, and again if it was lost.

The function may run several times, so it must be pure: no reads or writes of its own, and every id
that it puts into the record is drawn before `update` is called.

When a store cannot say whether a write was applied, that is neither a win nor a loss:

    the record, read again, is...       so the write...       and update...
    what we wrote                       is in effect          returns
    something that `landed` knows       as `landed` says      returns, or tries again
    what it was before                  was not applied       tries again
    anything else, or unreadable        nobody can say        raises UnknownOutcome

"What we wrote" is judged by bytes. Two writers that turn 5 into the same 6 cannot be told apart by
that, so a change that must count exactly once leaves something of its own in the record (a token, a
commit id), and `landed` looks for it when others have changed the record since.
"""

from collections.abc import Callable, Iterator
from typing import Final

from lochan.environment import Environment
from lochan.errors import Conflict, PredicateFailed, Unavailable, UnknownOutcome
from lochan.kv.read import find
from lochan.kv.store import Store

# A loser repeats at once, then waits a random part of 1, 2, 4 ... 128 ms: about four seconds in all
# before it gives up. With n writers at work each round has a winner, so n rounds are enough.
ATTEMPTS: Final = 64
FIRST_PAUSE_S: Final = 0.001
LONGEST_PAUSE_S: Final = 0.128

Change = Callable[[bytes | None], bytes | None]
Landed = Callable[[bytes | None], bool | None]


def cannot_tell(_: bytes | None) -> bool | None:
    """Know nothing beyond the bytes: the default for `landed`."""
    return None


def update(
    store: Store,
    partition: bytes,
    key: bytes,
    change: Change,
    environment: Environment,
    *,
    landed: Landed = cannot_tell,
    attempts: int = ATTEMPTS,
) -> bytes | None:
    """Replace a record by what `change` makes of it, and give what is then stored.

    `change` gets None where there is no record, and leaves things as they are by giving None or
    what it got; what it raises goes through. `landed` says of a later record whether our change is
    in it: True, False, or None if it cannot tell.
    Raises: Conflict when others always came first, Unavailable, UnknownOutcome.
    """
    for pause_s in _pauses(environment, attempts):
        if pause_s:
            environment.sleep(pause_s)
        found = find(store, partition, key)
        before = found.value if found else None
        wanted = change(before)
        if wanted is None or wanted == before:
            return before
        try:
            store.set_if(partition, key, wanted, found.predicate if found else None)
        except PredicateFailed:
            continue
        except UnknownOutcome as unknown:
            if not _is_in_effect(store, partition, key, before, wanted, landed, unknown):
                continue
        return wanted
    message = f"record {key!r} in {partition!r} was changed by others {attempts} times; try again"
    raise Conflict(message, code="contended", partition=partition, key=key)


def _is_in_effect(
    store: Store,
    partition: bytes,
    key: bytes,
    before: bytes | None,
    wanted: bytes,
    landed: Landed,
    unknown: UnknownOutcome,
) -> bool:
    """Read the record again to learn what became of a write; see the table above."""
    try:
        found = find(store, partition, key)
    except Unavailable as error:
        message = f"record {key!r} in {partition!r} may have been changed, and cannot be read now"
        raise UnknownOutcome(message, partition=partition, key=key) from error
    now = found.value if found else None
    if now == wanted:
        return True
    verdict = landed(now)
    if verdict is not None:
        return verdict
    if now == before:
        return False
    message = f"record {key!r} in {partition!r} changed since a write of unknown outcome; read it"
    raise UnknownOutcome(message, partition=partition, key=key) from unknown


def _pauses(environment: Environment, attempts: int) -> Iterator[float]:
    """Say how long to wait before each attempt: twice not at all, then a random while."""
    ceiling_s = FIRST_PAUSE_S
    for attempt in range(attempts):
        if attempt <= 1:
            yield 0.0
            continue
        share = int.from_bytes(environment.random_bytes(2), "big") / 65536
        yield ceiling_s * share
        ceiling_s = min(2 * ceiling_s, LONGEST_PAUSE_S)
