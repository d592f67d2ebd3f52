# SPDX-License-Identifier: Apache-2.0
"""Find the keys of a snapshot that begin with any of some prefixes.

A few prefixes are sought one by one, each by a block or two. Many are met on one pass over the
ranges between the first and the last: decoding a range costs less than some hundred seeks.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from lochan.committed import Snapshots
from lochan.committed.interval import Interval, after_prefix
from lochan.kernel.chosen import kernel
from lochan.model.ids import EMPTY_TREE, MetaRangeId

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
    stops = [after_prefix(prefix) for prefix in prefixes]
    within = Interval(prefixes[0], None if None in stops else max(filter(None, stops)))
    first = 0
    for some in snapshots.diff(EMPTY_TREE, id, within):
        keys = some.right.keys
        least, greatest = keys[0], keys[-1]
        while first < len(prefixes) and _ends_before(stops[first], least):
            first += 1
        for number in range(first, len(prefixes)):
            prefix, stop = prefixes[number], stops[number]
            if prefix > greatest:
                break
            start = kernel.lower_bound(keys, prefix)
            end = len(keys) if stop is None else kernel.lower_bound(keys, stop)
            for row in range(start, end):
                yield prefix, keys[row][len(prefix) :]


def _ends_before(stop: bytes | None, key: bytes) -> bool:
    return stop is not None and stop <= key
