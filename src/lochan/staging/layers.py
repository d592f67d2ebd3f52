# SPDX-License-Identifier: Apache-2.0
"""What shows of the rows under a branch's tokens: all but the keys that were reset.

A reset of a prefix or an object cannot take its rows away: no store changes several at one instant,
and a commit under way may have read some of them. So the swap that resets notes the keys in the
branch record, with the newest token whose rows it forgets. Under that token and all older ones they
are passed over from then on, by readers, commits and compactions alike, until the tokens go.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lochan.model.ids import StagingToken
from lochan.model.records import Branch, Forgotten, StagedEntry
from lochan.staging.area import StagingArea
from lochan.staging.sealed import Tokens

PASSED = 1000  # rows that are read and passed over, before a scan begins anew behind them


class Layer(NamedTuple):
    """A token, and what of it is not shown: in the order of keys, and no two overlap."""

    token: StagingToken
    forgotten: tuple[Forgotten, ...]

    def hiding(self, key: bytes) -> Forgotten | None:
        """Give what hides a row of this key; None where it would be shown."""
        place = bisect_right(self.forgotten, key, key=_start)
        found = self.forgotten[place - 1] if place else None
        return found if found is not None and found.covers(key) else None


def layers_of(branch: Branch, tokens: Tokens | None = None) -> tuple[Layer, ...]:
    """Give a branch's tokens as they are looked at, newest first; all of them, or some."""
    layers = []
    forgotten: tuple[Forgotten, ...] = ()
    for token in (branch.staging_token, *branch.sealed_tokens):
        more = [one for one in branch.forgotten if one.newest == token]
        forgotten = _joined(forgotten, more) if more else forgotten
        if tokens is None or token in tokens:
            layers.append(Layer(token, forgotten))
    return tuple(layers)


def still_forgotten(branch: Branch, left: Tokens) -> tuple[Forgotten, ...]:
    """Give what is to be noted still when these are all sealed tokens that are left."""
    return tuple(one for one in branch.forgotten if one.newest in left)


def noted(forgotten: Iterable[Forgotten], late: Forgotten) -> tuple[Forgotten, ...]:
    """Note one more reset; earlier ones of none but its keys say nothing that it does not."""
    return (*(one for one in forgotten if not _is_within(one, late)), late)


def shown_rows(area: StagingArea, layer: Layer, start: bytes = b"") -> Iterator[StagedEntry]:
    """Give the rows that a layer shows, from a key on."""
    if not layer.forgotten:
        yield from area.scan(layer.token, start)
        return
    following: bytes | None = start
    while following is not None:
        passed, begun, following = 0, following, None
        for row in area.scan(layer.token, begun):
            hiding = layer.hiding(row.key)
            if hiding is None:
                passed = 0
                yield row
                continue
            passed += 1
            if passed == PASSED:
                following = hiding.stop
                break


def _joined(one: Iterable[Forgotten], other: Iterable[Forgotten]) -> tuple[Forgotten, ...]:
    joined: list[Forgotten] = []
    for late in sorted((*one, *other), key=_start):
        last = joined[-1] if joined else None
        if last is None or not (last.covers(late.start) or last.stop == late.start):
            joined.append(late)
        elif last.stop is not None and (late.stop is None or late.stop > last.stop):
            joined[-1] = last._replace(stop=late.stop)
    return tuple(joined)


def _is_within(one: Forgotten, other: Forgotten) -> bool:
    if one.start < other.start:
        return False
    return other.stop is None or (one.stop is not None and one.stop <= other.stop)


def _start(one: Forgotten) -> bytes:
    return one.start
