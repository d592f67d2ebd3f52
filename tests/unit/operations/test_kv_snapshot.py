# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a KV store: whole, of one moment, checked to the last byte, restored or refused."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count

import msgspec
import pytest

from lochan.errors import Conflict, Corruption, NotFound, Refused
from lochan.faults import Crashed, Fault
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.kv.store import Pair, Store
from lochan.model.ids import ObjectKey, RepositoryId, StorageNamespace
from lochan.model.keys import CLEANUP, COMMITS, GRAVELER, TAGS, token_partition
from lochan.model.records import RepositoryState
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.findings import Severity
from lochan.operations.fsck import fsck
from lochan.operations.kv_copy_ledger import Ledger
from lochan.operations.kv_restore import PARTITION, restore_store
from lochan.operations.kv_snapshot import snapshot_store
from lochan.operations.kv_snapshot_parts import (
    MANIFEST,
    Snapshot,
    get_manifest,
    list_snapshots,
    put_manifest,
)
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.refs.cleaner import Cleaner
from lochan.refs.creation import create_repository
from lochan.refs.deletion import delete_repository
from lochan.refs.repositories import list_repositories
from lochan.refs.tables import RepositoryTables, repositories
from support.grown_lake import DEV, MAIN, NAME, grown, open_lake
from support.kv_copies import WORLD, Writer, assert_all_there, at_work, clone, every_row
from support.lakes import Stage

POND, POND_NAMESPACE = RepositoryId("pond"), StorageNamespace("mem://pond")


@pytest.fixture(scope="module")
def whole() -> Stage:
    stage = grown(MemoryStore(WORLD))
    Cleaner(stage.lake.store, WORLD).run()  # dead rows are no part of a snapshot
    return stage


@pytest.fixture
def objects() -> MemoryObjects:
    return MemoryObjects(WORLD)


def saved(store: Store, objects: MemoryObjects) -> Snapshot:
    return snapshot_store(store, objects, WORLD, part_bytes=2_000)


def own(whole: Stage) -> MemoryStore:
    assert isinstance(whole.lake.store, MemoryStore)
    return clone(whole.lake.store)


def bytes_of(objects: MemoryObjects, address: str) -> bytes:
    with objects.get(address) as reading:
        return reading.read()


def test_a_restored_store_has_every_row(whole: Stage, objects: MemoryObjects) -> None:
    source, target = own(whole), MemoryStore(WORLD)
    made = saved(source, objects)

    assert restore_store(objects, made.id, target) == made
    assert every_row(target) == every_row(source)
    assert len(made.parts) > 3
    assert made.rows == len(every_row(source))
    assert not list(fsck(open_lake(target, WORLD, whole.storage)))
    assert not list(target.scan(PARTITION))


def test_snapshots_are_listed_and_half_ones_are_not(whole: Stage, objects: MemoryObjects) -> None:
    first, second = (saved(own(whole), objects) for _ in range(2))
    half = saved(own(whole), objects)
    objects.delete(f"{half.id}/{MANIFEST}")

    assert {one.id for one in list_snapshots(objects)} == {first.id, second.id}
    with pytest.raises(NotFound, match="no snapshot"):
        restore_store(objects, half.id, MemoryStore(WORLD))


def test_every_damaged_byte_is_found_before_a_row_is_set(
    whole: Stage, objects: MemoryObjects
) -> None:
    made = saved(own(whole), objects)
    target = MemoryStore(WORLD)
    for address in (f"{made.id}/{MANIFEST}", *(f"{made.id}/{part.name}" for part in made.parts)):
        good = bytes_of(objects, address)
        for place in range(0, len(good), max(1, len(good) // 40)):
            objects.put(address, good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
            with pytest.raises(Corruption):
                restore_store(objects, made.id, target)
        objects.put(address, good)

    assert not every_row(target)
    assert not list(target.scan(PARTITION))


@pytest.mark.parametrize("change", ["cut", "missing", "of another"])
def test_a_part_that_is_not_the_one_that_was_written_is_refused(
    whole: Stage, objects: MemoryObjects, change: str
) -> None:
    made = saved(own(whole), objects)
    address = f"{made.id}/{made.parts[1].name}"
    good = bytes_of(objects, address)
    objects.delete(address)
    if change == "cut":
        objects.put(address, good[:-1])
    elif change == "of another":
        objects.put(address, bytes_of(objects, f"{made.id}/{made.parts[0].name}"))

    with pytest.raises(Corruption, match=made.parts[1].name):
        restore_store(objects, made.id, MemoryStore(WORLD))


def test_a_manifest_of_another_format_is_refused(whole: Stage, objects: MemoryObjects) -> None:
    made = saved(own(whole), objects)
    put_manifest(objects, msgspec.structs.replace(made, format=2))

    with pytest.raises(Corruption, match="format 2; format 1 can be read"):
        get_manifest(objects, made.id)


def test_only_an_empty_store_is_restored_into(whole: Stage, objects: MemoryObjects) -> None:
    made = saved(own(whole), objects)
    target = own(whole)
    before = every_row(target)

    with pytest.raises(Refused, match="empty store"):
        restore_store(objects, made.id, target)
    assert every_row(target) == before


def test_a_restore_that_died_anywhere_goes_on_and_no_other_one_does(
    whole: Stage, objects: MemoryObjects
) -> None:
    source = own(whole)
    made, other = saved(source, objects), saved(source, objects)
    half, numbers, died = 0, count(1), True
    while died:
        target, died = MemoryStore(WORLD), False
        try:
            failing = Faulty(target, fail_nth(next(numbers), Fault.CRASH_BEFORE), WORLD)
            restore_store(objects, made.id, failing)
        except Crashed:
            died = True
        if died and list(target.scan(PARTITION)):
            half += 1
            shown = list(target.scan(GRAVELER))
            assert not shown or every_row(target) == every_row(source), "repositories come last"
            with pytest.raises(Refused, match=made.id):
                restore_store(objects, other.id, target)
            with pytest.raises(Refused, match="into an empty store"):
                Ledger(target)  # of a copy
        with suppress(Refused):  # where it had ended
            restore_store(objects, made.id, target)
        assert every_row(target) == every_row(source)
    assert half > len(made.parts)


def test_a_snapshot_beside_writers_is_of_one_moment(objects: MemoryObjects) -> None:
    stage = grown(MemoryStore(WORLD))
    writers = [Writer(stage.lake, stage.repository, b, f"{b}-writer") for b in (MAIN, DEV)]
    promised: list[Writer] = []
    made: list[Snapshot] = []
    with at_work(*writers):
        for _ in range(5):
            for writer in writers:
                noted = Writer(stage.lake, stage.repository, writer.branch, writer.name)
                noted.acknowledged = dict(writer.acknowledged)
                promised.append(noted)
            made.append(saved(stage.lake.store, objects))

    for number, one in enumerate(made):
        target = MemoryStore(WORLD)
        restore_store(objects, one.id, target)
        lake = open_lake(target, WORLD, stage.storage)
        assert not [f for f in fsck(lake) if f.severity is not Severity.NOTE]
        assert_all_there(lake, *promised[2 * number : 2 * number + 2])


class Meddled(MemoryStore):
    """A store of which somebody hears before it is scanned."""

    def __init__(self, like: MemoryStore, hear: Callable[["Meddled", bytes, bytes], None]) -> None:
        super().__init__(WORLD)
        for name, partition in like._partitions.items():
            self.set_many(name, partition.values)
        self._hear = hear
        self.busy = False

    def scan(self, partition: bytes, start: bytes = b"") -> Iterator[Pair]:
        if not self.busy:
            self.busy = True
            self._hear(self, partition, start)
            self.busy = False
        return super().scan(partition, start)


def test_names_that_never_stand_still_are_told(whole: Stage, objects: MemoryObjects) -> None:
    tagged = count()

    def tag(store: Meddled, partition: bytes, start: bytes) -> None:
        if start == TAGS:
            store.set(partition, TAGS + b"x%d" % next(tagged), b"")

    with pytest.raises(Conflict, match="branches of 'grown' changed during"):
        saved(Meddled(own(whole), tag), objects)
    assert not list(list_snapshots(objects))


def test_a_commit_and_a_write_between_two_looks_are_both_in_the_snapshot(
    whole: Stage, objects: MemoryObjects
) -> None:
    staged = token_partition(
        RepositoryTables.of(whole.lake.store, whole.repository)
        .branches.get(DEV.encode())
        .record.staging_token
    )
    met: list[bytes] = []

    def interfere(store: Meddled, partition: bytes, start: bytes) -> None:
        if partition == staged and not met:
            met.append(partition)
            lake = open_lake(store, WORLD, whole.storage)
            commit(lake, whole.repository, DEV, CommitRequest("ann", "in between"))
            put_object(lake, whole.repository, DEV, ObjectKey(b"later"), b"later")
            Cleaner(store, WORLD).run()

    source, target = Meddled(own(whole), interfere), MemoryStore(WORLD)
    restore_store(objects, saved(source, objects).id, target)

    assert met
    lake, before = (open_lake(store, WORLD, whole.storage) for store in (target, source))
    seen = list_objects(lake, whole.repository, DEV).items
    assert seen == list_objects(before, whole.repository, DEV).items
    assert b"later" in {item.key for item in seen if isinstance(item, Record)}
    assert not [f for f in fsck(lake) if f.severity is not Severity.NOTE]


def test_a_repository_that_is_deleted_meanwhile_is_saved_as_deleting(
    whole: Stage, objects: MemoryObjects
) -> None:
    def delete(store: Meddled, partition: bytes, start: bytes) -> None:
        if start == COMMITS and repositories(store).find(NAME.encode()):
            delete_repository(store, WORLD, NAME)

    target = MemoryStore(WORLD)
    restore_store(objects, saved(Meddled(own(whole), delete), objects).id, target)

    found = repositories(target).get(NAME.encode()).record
    assert found.repository_state is RepositoryState.DELETING
    assert not list(list_repositories(target))


def test_a_repository_that_is_being_created_is_never_saved_as_one_that_was(
    whole: Stage, objects: MemoryObjects
) -> None:
    source = own(whole)
    dying = Faulty(source, fail_nth(2, Fault.CRASH_BEFORE), WORLD)
    with pytest.raises(Crashed):  # between the record and the first commit
        create_repository(dying, WORLD, POND, POND_NAMESPACE, MAIN)
    begun = repositories(source).get(POND.encode()).record

    def finish(store: Meddled, partition: bytes, _: bytes) -> None:
        if partition == CLEANUP:
            active = msgspec.structs.replace(begun, repository_state=RepositoryState.ACTIVE)
            repositories(store).set(POND.encode(), active)

    target = MemoryStore(WORLD)
    restore_store(objects, saved(Meddled(source, finish), objects).id, target)

    assert repositories(target).get(POND.encode()).record == begun
