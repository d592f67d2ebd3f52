# SPDX-License-Identifier: Apache-2.0
"""What tests of copied lakes look at: all rows of a store, and writers that note what they did."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum

import msgspec

from lochan.environment import RealEnvironment
from lochan.errors import LochanError, Refused
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Call, Faulty
from lochan.kv.store import Store
from lochan.model.codec import decode_repository, encode_repository
from lochan.model.ids import BranchName, ObjectKey
from lochan.model.keys import GRAVELER, token_partition
from lochan.model.records import Repository
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.kv_copy import copy_lake
from lochan.operations.kv_copy_ledger import Ledger, Phase
from lochan.operations.lake import Lake
from lochan.operations.put_object import put_object
from lochan.operations.read_object import get_object
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
        self.acknowledged: dict[ObjectKey, int] = {}  # the number that was last put
        self.failure: LochanError | None = None
        self.stopped = threading.Event()
        self.busy = threading.Event()

    def __call__(self) -> None:
        number = 0
        while not self.stopped.is_set():
            number += 1
            key = ObjectKey(f"{self.name}/{number % KEYS:05}".encode())
            try:
                put_object(self.lake, self.repository, self.branch, key, str(number).encode())
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
        for key, number in writer.acknowledged.items():
            # One that was put and not acknowledged may have come after it.
            _, reading = get_object(lake, writer.repository, writer.branch, key)
            assert int(reading.read()) >= number


def moved(stage: Stage, target: Store, deaths: Sequence[int]) -> tuple[Stage, list[Writer]]:
    """Copy a lake while writers work on it, and open the copy.

    The copy dies at calls that `deaths` names, to either store: at these of its beginning, then of
    its fence, and then of what comes after it, each over again until a run has fewer.
    """
    source = stage.lake.store
    writers = [
        Writer(stage.lake, stage.repository, branch, f"{branch}-{number}-{id(target)}")
        for number, branch in enumerate((MAIN, DEV))
    ]
    with at_work(*writers) as world:
        for part in (_Part.BEFORE, _Part.FENCE, _Part.CLOSED):
            for number in deaths:
                death = _Death(number, part)
                with suppress(Crashed):
                    copy_lake(*death.between(source, target), world, settle_s=SETTLE_S)
                if death.is_past(target):
                    break
        copy_lake(source, target, world, settle_s=SETTLE_S)
    assert every_row(target) == every_row(source)
    lake = open_lake(target, WORLD, stage.storage)
    return Stage(lake, get_repository(target, WORLD, NAME), stage.storage), writers


class _Part(Enum):
    """A part of a copy: a fence writes to the source first, and every fence makes the next longer.

    So its calls are counted from there: else a death of each number would never come past it.
    """

    BEFORE = Phase.COPYING
    FENCE = Phase.CLOSED
    CLOSED = Phase.DONE


class _Death:
    """Where a process dies: at a call of a part of its copy, or where the fence begins."""

    def __init__(self, number: int, part: _Part) -> None:
        self._number = number
        self._part = part
        self._calls = 0
        self._writes = False

    def between(self, source: Store, target: Store) -> tuple[Store, Store]:
        """Stand between the process and its two stores."""
        return Faulty(source, self._at_source, WORLD), Faulty(target, self._at_target, WORLD)

    def is_past(self, target: Store) -> bool:
        """Say whether the part has no calls left at which nobody has died."""
        if self._part is _Part.BEFORE:
            return self._writes
        return Ledger(target).phase in {self._part.value, Phase.DONE}

    def _at_source(self, call: Call) -> Fault:
        self._writes |= call.operation.startswith(("set", "delete"))
        if self._writes and self._part is _Part.BEFORE:
            return Fault.CRASH_BEFORE
        return self._at_target(call)

    def _at_target(self, _: Call) -> Fault:
        self._calls += self._writes or self._part is not _Part.FENCE
        return Fault.CRASH_BEFORE if self._calls == self._number else Fault.OK
