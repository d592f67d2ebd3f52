# SPDX-License-Identifier: Apache-2.0
"""Pack datums into shards: longest first, each into the shard that has least to do.

How many shards, unless somebody said it: as many as the bytes fill sets (`set_bytes`), but enough
to keep every core at work, three a core at most, and never more than there are datums. A datum is
never a task of its own on principle: a task costs an engine more than a small datum does.

A datum larger than a set has a shard to itself while there are shards left for the others. What
comes out depends on nothing but datums and numbers, so a job that is resumed packs as before, and
knows its finished shards again by the hashes of their datums.
"""

from collections.abc import Sequence
from heapq import heapify, heapreplace
from typing import Final

from lochan.pipelines.model.datum import Datum
from lochan.pipelines.model.spec import DatumRules
from lochan.pipelines.model.work import Shard

A_CORE: Final = 3  # shards, at most: the last ones even the cores out
_MANY: Final = 32  # datums a core: from here on it is worth evening out
_EACH: Final = 64 << 10  # bytes that starting a datum counts for, so that empty ones spread too


def pack(
    datums: Sequence[Datum], rules: DatumRules, cores: int, wanted: int = 0
) -> tuple[Shard, ...]:
    """Give the shards, none of them empty; in a shard datums stand by their numbers."""
    if not datums:
        return ()
    count = min(wanted, len(datums)) if wanted else shard_count(datums, rules, cores)
    longest_first = sorted(datums, key=lambda datum: (-datum.bytes, _place(datum)))
    large = sum(datum.bytes > rules.set_bytes for datum in longest_first)
    alone = large if large < count else 0
    filled = [[datum] for datum in longest_first[:alone]]
    filled += _even(longest_first[alone:], count - alone)
    shards = [sorted(some, key=_place) for some in filled if some]
    shards.sort(key=lambda some: _place(some[0]))
    return tuple(Shard(number, tuple(some)) for number, some in enumerate(shards))


def shard_count(datums: Sequence[Datum], rules: DatumRules, cores: int) -> int:
    """Say how many shards so many datums and bytes are worth."""
    cores = max(1, cores)
    by_bytes = sum(datum.bytes for datum in datums) // max(1, rules.set_bytes)
    least = A_CORE * cores if len(datums) >= _MANY * cores else cores
    return max(1, min(max(by_bytes, least), A_CORE * cores, len(datums)))


def _place(datum: Datum) -> tuple[int, bytes]:
    return datum.number, datum.id


def _even(longest_first: Sequence[Datum], count: int) -> list[list[Datum]]:
    """Spread datums over so many shards, each to the least filled one."""
    shards: list[list[Datum]] = [[] for _ in range(count)]
    loads = [(0, number) for number in range(count)]
    heapify(loads)
    for datum in longest_first:
        load, number = loads[0]
        shards[number].append(datum)
        heapreplace(loads, (load + datum.bytes + _EACH, number))
    return shards
