# SPDX-License-Identifier: Apache-2.0
"""Find the keys of a snapshot that begin with any of some prefixes.

A few prefixes are sought one by one, each by a block or two. For many, the ranges that may hold any
of them are read whole: decoding a range costs less than some hundred seeks. Ranges in between are
not opened, so the cost follows the prefixes and not the snapshot.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from lochan.committed import Snapshots
from lochan.committed.interval import Interval, after_prefix
from lochan.committed.range import Range
from lochan.kernel.chosen import kernel
from lochan.kernel.interface import MAX_KEY
from lochan.model.ids import EMPTY_TREE, MetaRangeId

_LAST: Final = b"\xff" * (MAX_KEY + 1)  # behind every key, since none is so long
FEW: Final = 64  # prefixes that are sought one by one


def keys_under(
    snapshots: Snapshots,
    id: MetaRangeId,  # noqa: A002 - the seeds' word
    prefixes: Sequence[bytes],
    few: int = FEW,
) -> Iterator[tuple[bytes, bytes]]:
    """Give (prefix, rest of the key) for every key under the prefixes.

    The prefixes are sorted. A key that lies under two of them is given for each.
    """
    if not prefixes or not id:
        return iter(())
    if len(prefixes) <= few:
        return _sought(snapshots, id, prefixes)
    return _met(snapshots, id, prefixes)


def stretches(
    snapshots: Snapshots,
    id: MetaRangeId,  # noqa: A002
    prefixes: Sequence[bytes],
) -> Iterator[Interval]:
    """Give the stretches of a snapshot, ranges side by side, that may hold the sorted prefixes."""
    # How far the prefixes up to each one reach: a short one may reach behind longer ones.
    reach = list(accumulate(map(_stop, prefixes), max))

    def holds(found: Range) -> bool:
        below = bisect_right(prefixes, found.max_key)
        return below > 0 and (
            prefixes[below - 1] >= found.min_key or reach[below - 1] > found.min_key
        )

    start: bytes | None = None
    last = b""
    for found in snapshots.files.metarange(id):
        if holds(found):
            start, last = found.min_key if start is None else start, found.max_key
        elif start is not None:
            yield Interval(start, last + b"\x00")
            start = None
    if start is not None:
        yield Interval(start, last + b"\x00")


def _sought(
    snapshots: Snapshots,
    id: MetaRangeId,  # noqa: A002
    prefixes: Sequence[bytes],
) -> Iterator[tuple[bytes, bytes]]:
    cursor = snapshots.cursor(id)
    for prefix in prefixes:
        cursor.seek(prefix)
        while (found := cursor.next()) is not None and found.key.startswith(prefix):
            yield prefix, found.key[len(prefix) :]


def _met(
    snapshots: Snapshots,
    id: MetaRangeId,  # noqa: A002
    prefixes: Sequence[bytes],
) -> Iterator[tuple[bytes, bytes]]:
    stops = [_stop(prefix) for prefix in prefixes]
    first = 0
    for stretch in stretches(snapshots, id, prefixes):
        for some in snapshots.diff(EMPTY_TREE, id, stretch):
            keys = some.right.keys
            least, greatest = keys[0], keys[-1]
            while first < len(prefixes) and stops[first] <= least:
                first += 1
            for number in range(first, len(prefixes)):
                prefix = prefixes[number]
                if prefix > greatest:
                    break
                start = kernel.lower_bound(keys, prefix)
                end = kernel.lower_bound(keys, stops[number])
                for row in range(start, end):
                    yield prefix, keys[row][len(prefix) :]


def _stop(prefix: bytes) -> bytes:
    """Give a key behind all that begin with a prefix."""
    return after_prefix(prefix) or _LAST
