# SPDX-License-Identifier: Apache-2.0
"""V9 through the whole tree: no damage to a stored file passes for a snapshot.

Every byte of a small range and of its metarange is flipped, every truncation is tried; each reading
path reports it with the file's name and an offset.
"""

import re
from collections.abc import Callable

import pytest

from lochan.committed import Cuts, Snapshots
from lochan.errors import Corruption, NotFound
from lochan.model.ids import EMPTY_TREE, MetaRangeId, RangeId
from lochan.objects.store import ObjectStore
from support.record_strategies import to_records
from support.trees import build, memory_objects, numbered, open_snapshots, range_ids

ROWS = numbered(20)
CHANGE = to_records({b"k003": (b"2", b"")})
WHOLE = Cuts(raggedness=1 << 40, cap_bytes=1 << 20)  # one range
with open_snapshots(cuts=WHOLE) as _snapshots:
    OTHER = build(_snapshots, {b"k003": (b"2", b"")})

Read = Callable[[Snapshots, MetaRangeId], object]
READS: dict[str, Read] = {
    "verify": lambda snapshots, found: snapshots.verify(found),
    "get": lambda snapshots, found: snapshots.get(found, b"k003"),
    "get_many": lambda snapshots, found: snapshots.get_many(found, [b"k003", b"k000"]),
    "diff": lambda snapshots, found: list(snapshots.diff(EMPTY_TREE, found)),
    "cursor": lambda snapshots, found: list(snapshots.cursor(found)),
    "apply": lambda snapshots, found: snapshots.apply(found, [CHANGE]),
    "merge": lambda snapshots, found: snapshots.merge(EMPTY_TREE, OTHER, found),
}


def stored() -> tuple[ObjectStore, MetaRangeId, dict[str, RangeId]]:
    """Give a store, the snapshot in it, and the names of its two files."""
    objects = memory_objects()
    with open_snapshots(objects, WHOLE) as snapshots:
        found = build(snapshots, ROWS)
        assert snapshots.apply(EMPTY_TREE, [CHANGE]).id == OTHER
        (only,) = range_ids(snapshots, found)
    return objects, found, {"range": only, "metarange": RangeId(found)}


def undetected(
    kind: str, read: Read, damaged: Callable[[bytes], list[tuple[object, bytes]]]
) -> list[object]:
    """Put damaged copies of a file in its place; name the damages that a read does not report."""
    objects, found, names = stored()
    address = f"_lakefs/{names[kind]}"
    place = re.compile(f"{names[kind]} is damaged at offset [0-9]+: .")
    with objects.get(address) as reading:
        whole = reading.read()
    missed = []
    with open_snapshots(objects, WHOLE, memory_bytes=0) as snapshots:
        read(snapshots, found)
        for what, data in damaged(whole):
            objects.put(address, data)
            try:
                read(snapshots, found)
            except Corruption as error:
                if place.match(str(error)) and 0 <= error.offset <= len(whole):
                    continue
            missed.append(what)
    return missed


def flipped(whole: bytes) -> list[tuple[object, bytes]]:
    return [
        (at, whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
        for at in range(len(whole))
    ]


def cut_short(whole: bytes) -> list[tuple[object, bytes]]:
    return [(size, whole[:size]) for size in range(len(whole))]


def test_the_samples_are_small_and_one_block_each() -> None:
    objects, found, names = stored()
    sizes = [objects.head(f"_lakefs/{name}").size for name in names.values()]
    assert max(sizes) < 2000
    with open_snapshots(objects, WHOLE) as snapshots:
        assert [snapshots.files.range_once(name).block_count for name in names.values()] == [1, 1]
        assert snapshots.verify(found) == len(ROWS)


@pytest.mark.parametrize("kind", ["range", "metarange"])
@pytest.mark.parametrize("name", READS)
def test_every_flip_of_one_bit_is_reported(name: str, kind: str) -> None:
    assert undetected(kind, READS[name], flipped) == []


@pytest.mark.parametrize("kind", ["range", "metarange"])
@pytest.mark.parametrize("name", ["verify", "get", "diff"])
def test_every_truncation_is_reported(name: str, kind: str) -> None:
    assert undetected(kind, READS[name], cut_short) == []


@pytest.mark.parametrize("kind", ["range", "metarange"])
@pytest.mark.parametrize("name", READS)
def test_a_missing_file_is_not_found_and_never_emptiness(name: str, kind: str) -> None:
    objects, found, names = stored()
    objects.delete(f"_lakefs/{names[kind]}")
    with open_snapshots(objects, WHOLE) as snapshots, pytest.raises(NotFound, match=names[kind]):
        READS[name](snapshots, found)
