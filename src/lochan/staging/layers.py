# SPDX-License-Identifier: Apache-2.0
"""What shows of the rows under a branch's tokens: all but the keys that were reset.

A reset of a prefix or an object cannot take its rows away: no store changes several at one instant,
and a commit under way may have read some of them. So the swap that resets seals the staging token
and notes the keys in the branch record. Under that token and all older ones their rows are passed
over from then on, by readers, commits and compactions alike, until the tokens themselves go.
"""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from lochan.model.ids import StagingToken
from lochan.model.records import Branch, Forgotten, StagedEntry
from lochan.staging.area import StagingArea
from lochan.staging.sealed import Tokens


class Layer(NamedTuple):
    """A token, and what of it is not shown, in the order of the keys."""

    token: StagingToken
    forgotten: tuple[Forgotten, ...] = ()

    def shows(self, key: bytes) -> bool:
        """Say whether a row of this key would be shown."""
        return not any(one.covers(key) for one in self.forgotten)


def layers_of(branch: Branch, tokens: Tokens | None = None) -> tuple[Layer, ...]:
    """Give a branch's tokens as they are looked at, newest first; all of them, or some."""
    layers = []
    forgotten: list[Forgotten] = []
    for token in (branch.staging_token, *branch.sealed_tokens):
        forgotten = sorted({*forgotten, *_noted(branch, token)}, key=lambda one: one.start)
        if tokens is None or token in tokens:
            layers.append(Layer(token, tuple(forgotten)))
    return tuple(layers)


def still_forgotten(branch: Branch, left: Tokens) -> tuple[Forgotten, ...]:
    """Give what is to be noted still when these are all sealed tokens that are left."""
    return tuple(one for one in branch.forgotten if one.newest in left)


def shown_rows(area: StagingArea, layer: Layer, start: bytes = b"") -> Iterator[StagedEntry]:
    """Give the rows that a layer shows, from a key on; what is forgotten is jumped over."""
    for one in layer.forgotten:
        if one.stop is not None and one.stop <= start:
            continue
        yield from _below(area.scan(layer.token, start), one.start)
        if one.stop is None:
            return
        start = one.stop
    yield from area.scan(layer.token, start)


def _noted(branch: Branch, token: StagingToken) -> Iterator[Forgotten]:
    return (one for one in branch.forgotten if one.newest == token)


def _below(rows: Iterable[StagedEntry], stop: bytes) -> Iterator[StagedEntry]:
    return takewhile(lambda row: row.key < stop, rows)
