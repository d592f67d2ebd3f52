# SPDX-License-Identifier: Apache-2.0
"""Look up keys in a snapshot, one or very many."""

from collections.abc import Iterator, Sequence

from lochan.committed.files import Files
from lochan.committed.metarange import MetaRange
from lochan.committed.parallel import Crew, Job
from lochan.kernel.chosen import kernel
from lochan.kernel.records import Column, Record, Records
from lochan.model.ids import MetaRangeId


def get(files: Files, metarange: MetaRange, key: bytes) -> Record | None:
    """Find one record; None where the key is absent."""
    number = metarange.find(key)
    if number == len(metarange):
        return None
    found = files.range(metarange.range_ids[number]).get(key)
    return Record(key, *found) if found is not None else None


def recall(files: Files, id: MetaRangeId, key: bytes) -> Record | None:  # noqa: A002
    """Find one record where all that leads to it is in memory; None says nothing."""
    metarange = files.recall_metarange(id)
    number = metarange.find(key) if metarange is not None else 0
    if metarange is None or number == len(metarange.max_keys):
        return None
    table = files.recall_range(metarange.range_ids[number])
    found = table.get(key) if table is not None else None
    return Record(key, *found) if found is not None else None


def get_many(
    files: Files, crew: Crew, metarange: MetaRange, keys: Sequence[bytes] | Column
) -> Records:
    """Find many records at once, in the order of the keys; an absent key gets an empty identity.

    The keys are sorted first: each range is then visited once, each of its blocks expanded once,
    and the ranges are read beside each other.
    """
    asked = keys if isinstance(keys, Column) else Column.of(keys)
    order = kernel.sort_order(asked)
    found = kernel.concat(list(crew.in_order(_parts(files, metarange, kernel.take(asked, order)))))
    # order[i] is the place, among the keys as asked, of the i-th in sorted order.
    back = kernel.inverse(order)
    return Records(asked, kernel.take(found.identities, back), kernel.take(found.values, back))


def _parts(files: Files, metarange: MetaRange, keys: Column) -> Iterator[Records | Job[Records]]:
    start = 0
    while start < len(keys):
        number = metarange.find(keys[start])
        if number == len(metarange):
            yield _absent(keys.slice(start, len(keys)))
            return
        stop = kernel.lower_bound(keys, metarange.max_keys[number] + b"\x00")
        yield Job(_Look(files, metarange, number, keys.slice(start, stop)))
        start = stop


def _absent(keys: Column) -> Records:
    nothing = Column.of([b""] * len(keys))
    return Records(keys, nothing, nothing)


class _Look:
    """The job of looking up sorted keys in one range."""

    __slots__ = ("_files", "_keys", "_metarange", "_number")

    def __init__(self, files: Files, metarange: MetaRange, number: int, keys: Column) -> None:
        self._files = files
        self._metarange = metarange
        self._number = number
        self._keys = keys

    def __call__(self) -> Records:
        return self._files.range(self._metarange.range_ids[self._number]).get_many(self._keys)
