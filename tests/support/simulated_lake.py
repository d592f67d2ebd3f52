# SPDX-License-Identifier: Apache-2.0
"""The real stories in a simulated world: writers, committers and a cleaner on one branch.

Each process has a lake of its own, as servers do, over one simulated store: at every KV call
another may run. What a writer reads after its own acknowledged write, and what a last commit holds
when all have ended, must be what was acknowledged (G1, G7); and every acknowledged commit must be
in the history (G15).
"""

from collections.abc import Callable
from contextlib import suppress

from lochan.committed import Files, Snapshots
from lochan.environment import Environment, RealEnvironment
from lochan.errors import InvalidInput
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.entry import Entry
from lochan.model.ids import CommitId, ObjectKey, StorageNamespace
from lochan.model.instant import from_seconds
from lochan.model.records import Commit
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations import view
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake, Storage
from lochan.operations.put_object import stage_entry
from lochan.refs.cleaner import Cleaner
from lochan.testing.simulation.world import World
from support.lakes import MAIN, add_repository

REAL = RealEnvironment()
WRITERS, COMMITTERS, WRITES, COMMITS, SWEEPS = 2, 2, 2, 2, 14


class Lost(AssertionError):
    """Something acknowledged is gone."""


class Scene:
    """One run: who was told what."""

    def __init__(self, seed: int) -> None:
        """Set the scene: an empty branch, and processes that have not begun."""
        self.world = World(seed)
        self.written: dict[bytes, str] = {}
        self.committed: list[CommitId] = []
        self._inner = MemoryStore(REAL)
        namespace = StorageNamespace(f"mem://{REAL.new_id()}")
        self._objects = MemoryObjects.open(namespace, REAL)
        self._repository = add_repository(self._inner, REAL, namespace)
        store = self.world.store(self._inner)
        for number in range(WRITERS):
            self.world.spawn(self._writer(self._lake(store, self.world.environment), number))
        for number in range(COMMITTERS):
            self.world.spawn(self._committer(self._lake(store, self.world.environment), number))
        self.world.spawn(lambda: self._sweep(store))

    def run(self) -> int:
        """Run to the end and check; gives the number of steps. Raises Lost."""
        self.world.run()
        lake = self._lake(self._inner, REAL)
        last = commit(lake, self._repository, MAIN, CommitRequest("", "last", allow_empty=True))
        self._check_writes(lake, last)
        self._check_commits(lake, last)
        return len(self.world.trace)

    def _lake(self, store: Store, environment: Environment) -> Lake:
        snapshots = Snapshots(Files(self._objects, environment), environment)
        storage = Storage(self._objects, AddressSource(environment), snapshots)
        return Lake.of(store, environment, lambda _: storage)

    def _writer(self, lake: Lake, number: int) -> Callable[[], None]:
        key = ObjectKey(b"key%d" % number)

        def write() -> None:
            for turn in range(WRITES):
                tag = f"{number}-{turn}"
                now = from_seconds(1)
                entry = Entry(address=tag, last_modified=now, size=turn, e_tag=tag)
                stage_entry(lake, self._repository, MAIN, key, entry)
                self.written[key] = tag
                self._expect(self._read(lake, key), tag, "a read after the write")

        return write

    def _read(self, lake: Lake, key: ObjectKey) -> Record | None:
        return view.read_stably(
            lake,
            self._repository,
            MAIN,
            lambda branch: view.find_record(lake, self._repository, branch, key),
        )

    def _committer(self, lake: Lake, number: int) -> Callable[[], None]:
        def work() -> None:
            for turn in range(COMMITS):
                request = CommitRequest(f"committer {number}", f"{number}-{turn}")
                with suppress(InvalidInput):  # nothing to commit
                    made = commit(lake, self._repository, MAIN, request)
                    self.committed.append(made.id)

        return work

    def _sweep(self, store: Store) -> None:
        for _ in range(SWEEPS):
            Cleaner(store, self.world.environment, grace_s=0).run()

    def _check_writes(self, lake: Lake, last: Commit) -> None:
        for key, tag in self.written.items():
            snapshots = lake.storage(self._repository.storage_namespace).snapshots
            self._expect(snapshots.get(last.meta_range_id, key), tag, "the last commit")

    def _expect(self, found: Record | None, tag: str, where: str) -> None:
        if found is None or tag.encode() not in found.value:
            raise Lost(f"seed {self.world.seed}: {where} lacks the write {tag}")

    def _check_commits(self, lake: Lake, last: Commit) -> None:
        commits, history = lake.tables(self._repository).commits, [last]
        while history[-1].parents:
            history.append(commits.get(history[-1].parents[0].encode()).record)
        missing = set(self.committed) - {each.id for each in history}
        if missing:
            raise Lost(f"seed {self.world.seed}: commits {missing} are not in the history")


def run_seeds(first: int, count: int) -> int:
    """Run scenes with so many seeds; gives the number of steps."""
    return sum(Scene(seed).run() for seed in range(first, first + count))
