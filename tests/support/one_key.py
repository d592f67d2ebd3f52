# SPDX-License-Identifier: Apache-2.0
"""Commits of one key, wherever it falls, and how many files each of them touches."""

from itertools import count
from typing import NamedTuple

from lochan.committed import Snapshots
from lochan.committed.range import Range
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId
from support.trees import Watched, range_ids

SET, REMOVE = b"another identity", b""


class Cost(NamedTuple):
    """What a commit of one key did."""

    ranges_gone: int  # of the snapshot before
    ranges_written: int
    files_written: int
    files_read: int


def cost(watched: Watched, snapshots: Snapshots, base: MetaRangeId, key: bytes, to: bytes) -> Cost:
    """Commit one key and count; the result is dropped, each commit starts from the same base."""
    snapshots.files.metarange(base)
    watched.forget()
    result = snapshots.apply(base, [Records.of([(key, to, b"")])])
    read, written = len(watched.read), len(watched.written)
    assert result.changed == 1
    gone = len(set(range_ids(snapshots, base)) - set(range_ids(snapshots, result.id)))
    return Cost(gone, result.ranges_written, written, read)


def costs(watched: Watched, snapshots: Snapshots, base: MetaRangeId) -> dict[str, Cost]:
    """Try every kind of place: inside a range, at its ends, at both ends of the key space."""
    ranges = list(snapshots.files.metarange(base))
    middle = ranges[len(ranges) // 2]
    inside = snapshots.files.range_once(middle.id).records().keys[middle.count // 2]
    tries = {
        "overwrite a key": (inside, SET),
        "remove a key": (inside, REMOVE),
        "add a key": (inside + b"x", SET),
        "overwrite the first key of a range": (middle.min_key, SET),
        "remove the first key of a range": (middle.min_key, REMOVE),
        "overwrite a boundary": (middle.max_key, SET),
        "remove a boundary": (middle.max_key, REMOVE),
        "add a boundary": (boundary_in(snapshots, middle, inside), SET),
        "add the smallest key of all": (b"", SET),
        "add the largest key of all": (b"\xff", SET),
    }
    return {name: cost(watched, snapshots, base, *place) for name, place in tries.items()}


def boundary_in(snapshots: Snapshots, found: Range, behind: bytes) -> bytes:
    """Find a key inside a range, behind one of its keys, that ends a range by its hash."""
    raggedness = snapshots.cuts.raggedness
    tried = (behind + b"/%d" % number for number in count())
    key = next(key for key in tried if kernel.fnv1a64(key) % raggedness == 0)
    assert found.min_key < key < found.max_key
    return key


# Each replaces one range; at a boundary two old ranges become one, or one becomes two. Besides, the
# metarange is written; it is in memory and need not be read.
EXPECTED = {
    "overwrite a key": Cost(1, 1, 2, 1),
    "remove a key": Cost(1, 1, 2, 1),
    "add a key": Cost(1, 1, 2, 1),
    "overwrite the first key of a range": Cost(1, 1, 2, 1),
    "remove the first key of a range": Cost(1, 1, 2, 1),
    "overwrite a boundary": Cost(1, 1, 2, 1),
    "remove a boundary": Cost(2, 1, 2, 2),
    "add a boundary": Cost(1, 2, 3, 1),
    "add the smallest key of all": Cost(1, 1, 2, 1),
    "add the largest key of all": Cost(1, 1, 2, 1),
}
