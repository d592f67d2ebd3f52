# SPDX-License-Identifier: Apache-2.0
"""A store that fails at any one call: the operation fails too, and a repeat succeeds (H9).

Whatever fails, every metarange in the store is whole: a range is there before the row that names
it can be read.
"""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from lochan.committed import Snapshots
from lochan.errors import InvalidInput, Unavailable
from lochan.faults import Crashed, Fault
from lochan.kernel.records import Records
from lochan.model.ids import MetaRangeId
from lochan.objects.faulty import Call, Faulty, Plan, Truncate, no_faults
from lochan.objects.store import ObjectStore
from lochan.objects.walk import walk
from lochan.sstable import StoredTable, read_table
from support.record_strategies import Rows, to_records
from support.tree_model import applied, is_hash_cut
from support.trees import ENVIRONMENT, SMALL, build, memory_objects, numbered, open_snapshots

BASE = numbered(40)
# Overwrite, add, remove; among the removed is the last key of a range.
REMOVED = next(key for key in sorted(BASE)[5:] if is_hash_cut(key, SMALL))
OURS: Rows = {b"k003": (b"2", b"ours"), REMOVED: (b"", b""), b"k003x": (b"1", b"new")}
THEIRS: Rows = {b"k004": (b"3", b"theirs"), b"k035": (b"", b""), b"z": (b"1", b"new")}
DEST, SOURCE = applied(BASE, OURS), applied(BASE, THEIRS)
MORE = dict.fromkeys((b"k002", b"k012", b"k022", b"k032", b"zz"), (b"9", b"more"))

Operation = Callable[[Snapshots, list[MetaRangeId]], object]
WRITES: dict[str, Operation] = {
    "apply": lambda snapshots, ids: snapshots.apply(ids[1], [to_records(MORE)]),
    "merge": lambda snapshots, ids: snapshots.merge(*ids),
}
READS: dict[str, Operation] = {
    "diff": lambda snapshots, ids: [list(part) for part in snapshots.diff(ids[1], ids[2])],
    "get": lambda snapshots, ids: snapshots.get(ids[1], b"k003"),
    "get_many": lambda snapshots, ids: list(snapshots.get_many(ids[1], list(BASE))),
    "cursor": lambda snapshots, ids: list(snapshots.cursor(ids[1])),
    "list": lambda snapshots, ids: list(snapshots.list(ids[1], b"k0", delimiter=b"3")),
    "verify": lambda snapshots, ids: snapshots.verify(ids[1]),
}
FAULTS = [Fault.ERROR, Fault.LOST_RESPONSE, Fault.CRASH_BEFORE, Fault.CRASH_AFTER]


class FailOnce:
    """A plan that fails one call and remembers whether it came to that."""

    def __init__(self, number: int, fault: Fault | Truncate) -> None:
        self.number, self.fault, self.failed = number, fault, False

    def __call__(self, call: Call) -> Fault | Truncate:
        if call.number != self.number:
            return Fault.OK
        self.failed = True
        return self.fault


def stored() -> tuple[ObjectStore, list[MetaRangeId]]:
    """Give a store with base, destination and source."""
    objects = memory_objects()
    with open_snapshots(objects) as snapshots:
        return objects, [build(snapshots, rows) for rows in (BASE, DEST, SOURCE)]


def run(objects: ObjectStore, plan: Plan, operation: Operation, ids: list[MetaRangeId]) -> object:
    with open_snapshots(Faulty(objects, plan, ENVIRONMENT), memory_bytes=0) as snapshots:
        return operation(snapshots, ids)


def addresses(objects: ObjectStore) -> set[str]:
    return {listed.address for listed in walk(objects, "_lakefs/")}


def open_file(objects: ObjectStore, address: str) -> StoredTable:
    with objects.get(address) as reading:
        return read_table(reading.read(), address)


def check_metaranges_are_whole(objects: ObjectStore) -> None:
    names = {address.rpartition("/")[2] for address in addresses(objects)}
    for name in names:
        table = open_file(objects, f"_lakefs/{name}")
        if table.properties["type"] == b"metaranges":
            assert {identity.decode() for identity in table.records().identities} <= names


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", WRITES)
def test_each_fault_of_a_write_is_told_and_a_repeat_succeeds(name: str, fault: Fault) -> None:
    objects, ids = stored()
    expected = run(objects, no_faults, WRITES[name], ids)
    for number in count(1):
        objects, ids = stored()
        if not fails(objects, FailOnce(number, fault), WRITES[name], ids):
            break
        check_metaranges_are_whole(objects)
        assert run(objects, no_faults, WRITES[name], ids) == expected
    assert number > 10


@pytest.mark.parametrize("fault", [Fault.ERROR, Fault.CRASH_BEFORE])
@pytest.mark.parametrize("name", READS)
def test_each_fault_of_a_read_is_told_and_a_repeat_succeeds(name: str, fault: Fault) -> None:
    objects, ids = stored()
    expected = run(objects, no_faults, READS[name], ids)
    for number in count(1):
        if not fails(objects, FailOnce(number, fault), READS[name], ids):
            break
        assert run(objects, no_faults, READS[name], ids) == expected
    assert number > 5


def fails(
    objects: ObjectStore, plan: FailOnce, operation: Operation, ids: list[MetaRangeId]
) -> bool:
    """Run into the planned fault; False when the operation was over before."""
    try:
        run(objects, plan, operation, ids)
    except (Unavailable, Crashed):
        assert plan.failed
        return True
    assert not plan.failed, f"call {plan.number} failed and nothing was said"
    return False


@pytest.mark.parametrize("size", [0, 1, 500])
def test_a_file_that_is_cut_short_on_its_way_is_not_stored(size: int) -> None:
    objects, ids = stored()
    before = addresses(objects)

    def plan(call: Call) -> Fault | Truncate:
        return Truncate(size) if call.operation == "put" else Fault.OK

    with pytest.raises(InvalidInput, match="nothing was stored"):
        run(objects, plan, WRITES["apply"], ids)
    assert addresses(objects) == before


@pytest.mark.parametrize("name", WRITES)
def test_a_failed_write_leaves_no_work_behind(name: str) -> None:
    objects, ids = stored()
    faulty = Faulty(objects, FailOnce(12, Fault.ERROR), ENVIRONMENT)
    with open_snapshots(faulty, memory_bytes=0) as snapshots:
        with pytest.raises(Unavailable):
            WRITES[name](snapshots, ids)
        written = addresses(objects)
    assert addresses(objects) == written


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_changes_whose_source_fails_midway_commit_nothing(threads: int) -> None:
    objects, ids = stored()
    before = addresses(objects)

    def changes() -> Iterator[Records]:
        yield to_records({b"k001": (b"9", b"")})
        yield to_records({b"k030": (b"9", b"")})
        raise Unavailable("the scan broke")

    with open_snapshots(objects, threads=threads) as snapshots:
        with pytest.raises(Unavailable, match="the scan broke"):
            snapshots.apply(ids[0], changes())
        check_metaranges_are_whole(objects)
        assert not any(
            open_file(objects, address).properties["type"] == b"metaranges"
            for address in addresses(objects) - before
        )
