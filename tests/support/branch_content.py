# SPDX-License-Identifier: Apache-2.0
"""Put, commit and read whole branches in a line, and fail each store call of a story in turn."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import count

from lochan.committed import Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, LochanError
from lochan.faults import Crashed, Fault
from lochan.kernel.records import Record
from lochan.kv import faulty as faulty_kv
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.codec import decode_entry
from lochan.model.ids import BranchName, ObjectKey, StorageNamespace
from lochan.model.records import Commit
from lochan.objects import faulty as faulty_objects
from lochan.objects.store import ObjectStore
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.lake import Lake, Storage
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import put_object
from lochan.operations.read_entry import read_entry
from lochan.refs.cleaner import Cleaner
from support.lakes import MAIN, Stage, open_stage

WORLD = RealEnvironment()
FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


def put(stage: Stage, key: bytes, body: bytes, branch: BranchName = MAIN) -> None:
    put_object(stage.lake, stage.repository, branch, ObjectKey(key), body)


def delete(stage: Stage, *keys: bytes, branch: BranchName = MAIN) -> None:
    delete_objects(stage.lake, stage.repository, branch, [ObjectKey(key) for key in keys])


def record(stage: Stage, branch: BranchName = MAIN, message: str = "x") -> Commit:
    request = CommitRequest("ada", message, allow_empty=True)
    return commit(stage.lake, stage.repository, branch, request)


def records(stage: Stage, ref: str = MAIN, prefix: bytes = b"") -> Iterator[Record]:
    """Give every record that a ref shows."""
    after = b""
    while True:
        page = list_objects(stage.lake, stage.repository, ref, prefix, after=after)
        for item in page.items:
            assert isinstance(item, Record)
            yield item
            after = item.key
        if not page.has_more:
            return


def content(stage: Stage, ref: str = MAIN) -> dict[bytes, bytes]:
    """Read every object that a ref shows."""
    found = {}
    for row in records(stage, ref):
        with read_entry(stage.lake, stage.repository, decode_entry(row.value)) as reading:
            found[row.key] = reading.read()
    return found


def with_stores(stage: Stage, stores: Mapping[str, ObjectStore]) -> Stage:
    """Give the same lake with further storage namespaces beside its own."""
    own = stage.storage

    def storage(namespace: StorageNamespace) -> Storage:
        if namespace == stage.repository.storage_namespace:
            return own
        if namespace not in stores:
            raise InvalidInput(f"no driver for {namespace}")
        return Storage(stores[namespace], own.addresses, own.snapshots)

    lake = Lake.of(stage.lake.store, stage.lake.environment, storage)
    return Stage(lake, stage.repository, own)


def fail_each_call(
    fault: Fault,
    prepare: Callable[[Stage], None],
    act: Callable[[Stage], object],
    check: Callable[[Stage, bool], None],
) -> int:
    """Run a story once for each of its KV calls, and then of its object calls, failing that one.

    `check` is told whether the story answered; it sees the lake as another process does.
    """
    done = 0
    for kind in ("kv", "objects"):
        for number in count(1):
            stage = open_stage(MemoryStore(WORLD), WORLD)
            prepare(stage)
            failing, calls = _failing(stage, kind, number, fault)
            answered = False
            with suppress(LochanError, Crashed):
                act(failing)
                answered = True
            check(again(stage), answered)
            if calls() < number:
                assert answered
                break
            done += 1
    return done


def _failing(stage: Stage, kind: str, number: int, fault: Fault) -> tuple[Stage, Callable[[], int]]:
    if kind == "kv":
        store = faulty_kv.Faulty(stage.lake.store, faulty_kv.fail_nth(number, fault), WORLD)
        return again(stage, store), lambda: store.calls
    plan = faulty_objects.fail_nth(number, fault)
    objects = faulty_objects.Faulty(stage.storage.objects, plan, WORLD)
    snapshots = Snapshots(Files(objects, WORLD), WORLD)
    storage = Storage(objects, stage.storage.addresses, snapshots)
    lake = Lake.of(stage.lake.store, WORLD, lambda _: storage)
    return Stage(lake, stage.repository, storage), lambda: objects.calls


def again(stage: Stage, store: Store | None = None) -> Stage:
    """Give the same lake as another process opens it."""
    lake = Lake.of(store or stage.lake.store, stage.lake.environment, stage.lake.storage)
    return Stage(lake, stage.repository, stage.storage)


def committed_and_cleaned(stage: Stage) -> None:
    """Commit what is staged, and remove the tokens that held it."""
    record(stage)
    for _ in range(3):
        Cleaner(stage.lake.store, WORLD, grace_s=0).run()


def interrupted(
    stage: Stage, number: int, other: Callable[[], object]
) -> tuple[Stage, faulty_kv.Faulty]:
    """Give another process whose n-th call to the store comes right after what `other` does."""

    def plan(call: faulty_kv.Call) -> Fault:
        if call.number == number:
            other()
        return Fault.OK

    store = faulty_kv.Faulty(stage.lake.store, plan, WORLD)
    return Stage(Lake.of(store, WORLD, stage.lake.storage), stage.repository, stage.storage), store


def every_place(
    prepare: Callable[[Stage], object], other: Callable[[Stage], object]
) -> Iterator[tuple[Stage, Stage]]:
    """Give (calm, interrupted) lakes, one pair for each call of what is done with the second."""
    for number in count(1):
        stage = open_stage()
        prepare(stage)
        harried, store = interrupted(stage, number, partial(other, stage))
        yield stage, harried
        if store.calls < number:
            return


def every_two_places(
    prepare: Callable[[Stage], object],
    first: Callable[[Stage], object],
    second: Callable[[Stage], object],
) -> Iterator[tuple[Stage, Stage]]:
    """Give lakes as `every_place`, but with one thing done at a call and another at it or later."""
    for start in count(1):
        for number in count(start):
            stage = open_stage()
            prepare(stage)
            inner, _ = interrupted(stage, number, partial(second, stage))
            harried, store = interrupted(inner, start, partial(first, stage))
            yield stage, harried
            if store.calls < number:
                break
        if store.calls < start:
            return
