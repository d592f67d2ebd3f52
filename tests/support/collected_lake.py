# SPDX-License-Identifier: Apache-2.0
"""A lake in memory whose clock a test moves, and short words for what collection is tested on."""

from dataclasses import dataclass

from lochan.committed import Files, Snapshots
from lochan.environment import RealEnvironment
from lochan.errors import NotFound
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, CommitId, ObjectKey
from lochan.model.records import Commit, Repository
from lochan.objects.walk import walk
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.gc.report import Report
from lochan.operations.lake import Lake, Storage
from lochan.operations.put_object import put_object
from lochan.operations.read_object import get_object
from lochan.operations.retention import set_gc_rules
from support.lakes import MAIN, Stage, open_stage

HOUR = 3600.0
DAY = 24 * HOUR
GRACE = 48 * HOUR
FORCED = Collection(force=True)


class MovedClock(RealEnvironment):
    """A clock that stands until somebody moves it."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


@dataclass(frozen=True)
class Ground:
    """A lake, its clock, and the words."""

    stage: Stage
    clock: MovedClock

    @classmethod
    def open(cls) -> "Ground":
        clock = MovedClock()
        return cls(open_stage(environment=clock), clock)

    def wait(self, seconds: float) -> None:
        self.clock.time += seconds

    def put(self, key: str, body: bytes = b"body", branch: BranchName = MAIN) -> Entry:
        return put_object(*self.where, branch, ObjectKey(key.encode()), body)

    def delete(self, key: str, branch: BranchName = MAIN) -> None:
        delete_objects(*self.where, branch, [ObjectKey(key.encode())])

    def commit(self, branch: BranchName = MAIN) -> Commit:
        self.wait(1)
        return commit(*self.where, branch, CommitRequest("me", "what", allow_empty=True))

    def branch(self, name: str, head: Commit) -> BranchName:
        create_branch(*self.where, BranchName(name), head.id)
        return BranchName(name)

    def read(self, key: str, ref: str = MAIN) -> bytes:
        _, reading = get_object(*self.where, ref, ObjectKey(key.encode()))
        with reading:
            return reading.read()

    def run(self, how: Collection = FORCED) -> Report:
        return collect(*self.where, how)

    def run_twice(self) -> Report:
        """Condemn, wait, and remove."""
        self.run()
        self.wait(GRACE + 1)
        return self.run()

    def is_there(self, entry: Entry) -> bool:
        try:
            self.stage.storage.objects.head(entry.address)
        except NotFound:
            return False
        return True

    def addresses(self, prefix: str = "data/") -> set[str]:
        return {listed.address for listed in walk(self.stage.storage.objects, prefix)}

    @property
    def where(self) -> tuple[Lake, Repository]:
        return self.stage.lake, self.stage.repository


def long_dead(ground: Ground) -> None:
    """Replace what nobody ever committed, and let it grow old."""
    ground.put("k", b"first")
    ground.put("k", b"second")
    ground.wait(GRACE + HOUR)


def expire(ground: Ground) -> CommitId:
    """Have a commit whose object was replaced long ago, under a rule of seven days."""
    set_gc_rules(*ground.where, 7, {})
    ground.put("k", b"first")
    old = ground.commit()
    ground.put("k", b"second")
    ground.commit()
    ground.wait(10 * DAY)
    ground.put("k", b"third")
    ground.commit()
    ground.wait(8 * DAY)
    ground.commit()
    return old.id


def opened_anew(ground: Ground) -> Lake:
    """Open the lake as another process would, which remembers no file."""
    storage = ground.stage.storage
    snapshots = Snapshots(Files(storage.objects, ground.clock), ground.clock)
    anew = Storage(storage.objects, storage.addresses, snapshots)
    return Lake.of(ground.stage.lake.store, ground.clock, lambda _: anew)


def let_pass(ground: Ground) -> None:
    """Have what a branch shows now be the only thing that seven days keep."""
    for days in (10, 8):
        ground.wait(days * DAY)
        ground.commit()
