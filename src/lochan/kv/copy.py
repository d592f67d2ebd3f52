# SPDX-License-Identifier: Apache-2.0
"""Make one partition of a store what it is in another: only what differs is written.

Both sides are read in key order, side by side, so that memory does not grow with the partition, and
a copy that was interrupted, or has grown old, is brought up to date by reading it and writing the
rest. While others write to the source, a copy holds for every key a value that it had at some time
during the copying; only a source that stands still gives an equal partition.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from lochan.kv.set_many import set_many
from lochan.kv.store import Pair, Store

_CHUNK_ROWS = 1_000
_CHUNK_BYTES = 4 << 20


@dataclass(slots=True)
class Tally:
    """What was seen and done; tallies are added up over many partitions."""

    rows: int = 0
    size_bytes: int = 0
    written: int = 0
    deleted: int = 0

    @property
    def differing(self) -> int:
        """Count the rows that were not the same on both sides."""
        return self.written + self.deleted

    def __iadd__(self, other: "Tally") -> Self:
        self.rows += other.rows
        self.size_bytes += other.size_bytes
        self.written += other.written
        self.deleted += other.deleted
        return self


def nothing_to_do() -> None:
    """Prepare nothing."""


def copy_rows(
    rows: Iterable[Pair],
    target: Store,
    partition: bytes,
    *,
    below: bytes = b"",
    leaving: tuple[bytes, ...] = (),
    before_writing: Callable[[], None] = nothing_to_do,
) -> Tally:
    """Make the target's keys below a prefix what `rows`, in key order, say, and count.

    Keys under the prefixes `leaving` are not looked at. `before_writing` runs once, before the
    first change. Idempotent: yes. Raises: Unavailable, UnknownOutcome; repeat it.
    """
    tally, waiting, size = Tally(), dict[bytes, bytes](), 0
    begun = False
    for key, wanted in differences(rows, target, partition, below, leaving, tally):
        if not begun:
            before_writing()
            begun = True
        if wanted is None:
            target.delete(partition, key)
            tally.deleted += 1
            continue
        waiting[key] = wanted
        size += len(key) + len(wanted)
        tally.written += 1
        if len(waiting) >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            set_many(target, partition, waiting)
            waiting, size = {}, 0
    set_many(target, partition, waiting)
    return tally


def differences(
    rows: Iterable[Pair],
    target: Store,
    partition: bytes,
    below: bytes,
    leaving: tuple[bytes, ...],
    tally: Tally,
) -> Iterator[tuple[bytes, bytes | None]]:
    """Give each key that is not the same on both sides, with what it should be; None: absent."""
    ours = _chosen(target.scan(partition, below), below, leaving)
    mine = next(ours, None)
    for key, value in _chosen(rows, below, leaving):
        tally.rows += 1
        tally.size_bytes += len(key) + len(value)
        while mine is not None and mine[0] < key:
            yield mine[0], None
            mine = next(ours, None)
        if mine is not None and mine[0] == key:
            if mine[1] != value:
                yield key, value
            mine = next(ours, None)
        else:
            yield key, value
    while mine is not None:
        yield mine[0], None
        mine = next(ours, None)


def _chosen(rows: Iterable[Pair], below: bytes, leaving: tuple[bytes, ...]) -> Iterator[Pair]:
    for pair in rows:
        if not pair[0].startswith(below):
            return
        if not leaving or not pair[0].startswith(leaving):
            yield pair
