# SPDX-License-Identifier: Apache-2.0
"""What tests of copied lakes look at: all rows of a store, and writers that note what they did."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain

import msgspec

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, Refused
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth, no_faults
from lochan.kv.store import Store
from lochan.model.codec import decode_repository, encode_repository
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.keys import GRAVELER, token_partition
from lochan.model.records import Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.kv_copy import copy_lake
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.operations.read_object import stat_object
from lochan.refs.partitions import FIXED, names_of, noted_tokens, repository_partitions
from lochan.refs.repositories import get_repository
from support.grown_lake import DEV, MAIN, NAME, open_lake
from support.lakes import Stage

Rows = dict[tuple[bytes, bytes], bytes]
WORLD = RealEnvironment()
KEYS = 20
COMMITS = 40  # of one writer: what is to be copied must end some day


def clone(store: MemoryStore) -> MemoryStore:
    """Give a store in memory with the same rows."""
    other = MemoryStore(WORLD)
    for name, partition in store._partitions.items():
        other.set_many(name, partition.values)
    return other


def every_row(store: Store) -> Rows:
    """Give all rows of a lake, with repositories as they are when nobody has closed them."""
    partitions = {*FIXED, *repository_partitions(store)}
    for partition in repository_partitions(store):
        partitions |= {token_partition(token) for token in names_of(store, partition).tokens}
    partitions |= {token_partition(token) for token in noted_tokens(store)}
    return {
        (name, key): opened(value) if name == GRAVELER else value
        for name in partitions
        for key, value in store.scan(name)
    }


def opened(value: bytes) -> bytes:
    return encode_repository(msgspec.structs.replace(decode_repository(value), read_only=False))


class Writer:
    """Puts objects, commits now and then, and remembers what was acknowledged."""

    def __init__(self, lake: Lake, repository: Repository, branch: BranchName, name: str) -> None:
        self.lake, self.repository, self.branch, self.name = lake, repository, branch, name
        self.acknowledged: dict[ObjectKey, int] = {}  # the size that was last put
        self.failure: LochanError | None = None
        self.stopped = threading.Event()
        self.busy = threading.Event()

    def __call__(self) -> None:
        number = 0
        while not self.stopped.is_set():
            number += 1
            key = ObjectKey(f"{self.name}/{number % KEYS:05}".encode())
            try:
                put_object(self.lake, self.repository, self.branch, key, b"x" * number)
                self.acknowledged[key] = number
                self.busy.set()
                if number % 5 == 0 and number <= 5 * COMMITS:
                    said = CommitRequest(self.name, f"{number}", allow_empty=True)
                    commit(self.lake, self.repository, self.branch, said)
            except Refused:
                return
            except LochanError as error:
                self.failure = error
                self.busy.set()
                return


SETTLE_S = 86_400.0


class Settling(RealEnvironment):
    """Waits for writers to be refused where a copy waits for what is under way to end."""

    def __init__(self, threads: list[threading.Thread]) -> None:
        self._threads = threads

    def sleep(self, seconds: float) -> None:
        if seconds != SETTLE_S:
            super().sleep(seconds)
            return
        for thread in self._threads:
            thread.join()


@contextmanager
def at_work(*writers: Writer) -> Iterator[Settling]:
    """Let writers work before and beside the block, until they are refused or it ends."""
    threads = [threading.Thread(target=writer) for writer in writers]
    for thread in threads:
        thread.start()
    for writer in writers:
        writer.busy.wait()
    try:
        yield Settling(threads)
    finally:
        for writer in writers:
            writer.stopped.set()
        for thread in threads:
            thread.join()
    assert [writer.failure for writer in writers] == [None] * len(writers)


def assert_all_there(lake: Lake, *writers: Writer) -> None:
    """Check that a lake shows everything that writers were told is safe."""
    for writer in writers:
        for key, size in writer.acknowledged.items():
            # One that was put and not acknowledged may have come after it.
            assert stat_object(lake, writer.repository, writer.branch, key).size >= size


def moved(stage: Stage, target: Store, deaths: Iterable[int]) -> tuple[Stage, list[Writer]]:
    """Copy a lake while writers work on it, and open the copy.

    The n-th run dies at that of its calls which the n-th number of `deaths` names; the first that
    has fewer calls left comes to its end, and so does the one after the last number.
    """
    source = stage.lake.store
    writers = [
        Writer(stage.lake, stage.repository, branch, f"{branch}-{number}-{id(target)}")
        for number, branch in enumerate((MAIN, DEV))
    ]
    with at_work(*writers) as world:
        for plan in chain((fail_nth(each, Fault.CRASH_BEFORE) for each in deaths), [no_faults]):
            with suppress(Crashed):
                copy_lake(source, Faulty(target, plan, WORLD), world, settle_s=SETTLE_S)
                break
    assert every_row(target) == every_row(source)
    lake = open_lake(target, WORLD, stage.storage)
    return Stage(lake, get_repository(target, WORLD, NAME), stage.storage), writers
