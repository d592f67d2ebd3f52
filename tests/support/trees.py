# SPDX-License-Identifier: Apache-2.0
"""Snapshots for tests: in memory, cut so small that a few dozen records fill many ranges."""

from collections.abc import Iterable, Iterator

from lochan.committed import Cuts, Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.faults import Fault
from lochan.kernel.records import Records
from lochan.model.ids import EMPTY_TREE, MetaRangeId, RangeId
from lochan.objects.faulty import Call, Faulty
from lochan.objects.open import open_objects
from lochan.objects.store import ObjectStore
from support.record_strategies import Rows, to_records, to_rows

ENVIRONMENT = RealEnvironment()
SMALL = Cuts(raggedness=5, cap_bytes=150)


def memory_objects() -> ObjectStore:
    """Open an empty store in memory."""
    return open_objects(f"mem://{ENVIRONMENT.new_id()}", ENVIRONMENT)


def open_snapshots(
    objects: ObjectStore | None = None,
    cuts: Cuts = SMALL,
    *,
    memory_bytes: int = 1 << 20,
    threads: int = 2,
) -> Snapshots:
    """Open the snapshots of a store, or of a new one; memory_bytes=0 keeps no file open."""
    store = memory_objects() if objects is None else objects
    files = Files(store, ENVIRONMENT, memory_bytes=memory_bytes)
    return Snapshots(files, ENVIRONMENT, cuts=cuts, threads=threads)


def build(snapshots: Snapshots, rows: Rows) -> MetaRangeId:
    """Make a snapshot of these rows at once."""
    return snapshots.apply(EMPTY_TREE, [to_records(rows)]).id


def content(snapshots: Snapshots, snapshot: MetaRangeId) -> Rows:
    """Read a whole snapshot."""
    return to_rows(Records.of(snapshots.cursor(snapshot)))


def range_ids(snapshots: Snapshots, snapshot: MetaRangeId) -> list[RangeId]:
    """Name the ranges of a snapshot, in key order."""
    return [found.id for found in snapshots.files.metarange(snapshot)]


def numbered(count: int, identity: bytes = b"1", step: int = 1) -> Rows:
    """Make rows with keys k000, k001, ... for tests that need many and care for none."""
    return {b"k%03d" % n: (identity, b"value %d" % n) for n in range(0, count, step)}


def in_chunks(rows: Rows, stops: Iterable[int]) -> Iterator[Records]:
    """Cut sorted rows into chunks at some places; chunks may be empty."""
    records, start = to_records(rows), 0
    for stop in [*sorted(min(stop, len(records)) for stop in stops), len(records)]:
        yield records.slice(start, stop)
        start = stop


class Watched:
    """A store that notes which files are read and written; it has no files of its own to map."""

    def __init__(self, objects: ObjectStore) -> None:
        self.read: list[str] = []
        self.written: list[str] = []
        self.objects = Faulty(objects, self._note, ENVIRONMENT)

    def _note(self, call: Call) -> Fault:
        name = call.address.rpartition("/")[2]
        if call.operation == "get":
            self.read.append(name)
        elif call.operation == "put":
            self.written.append(name)
        return Fault.OK

    def forget(self) -> None:
        """Begin anew."""
        self.read.clear()
        self.written.clear()
