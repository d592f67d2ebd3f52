# SPDX-License-Identifier: Apache-2.0
"""A simulated lake that is collected while everybody works (reliability V13).

Every call to a store is a switch point. What is alive is worked out at the moment at which an
object is deleted, straight from the store: a live one that goes is the end of the run. So is a dead
one that goes and is alive when a story ends. In the end every object that something shows must be
there; and when all is quiet, after some graces, no other.

No story takes as long as a grace: a collector that waits for one first lets those finish that were
on their way.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lochan.committed import Files, Snapshots
from lochan.environment import Environment
from lochan.errors import LochanError
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.model.codec import decode_entry
from lochan.model.entry import Block, addresses_of
from lochan.model.ids import (
    MetaRangeId,
    ObjectKey,
    OpenCommitId,
    StagingToken,
    StorageNamespace,
)
from lochan.model.records import Commit
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.objects.store import ObjectStore
from lochan.objects.walk import walk
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.gc.collect import Collection, collect
from lochan.operations.gc.empty import empty_trash
from lochan.operations.lake import Lake, Storage
from lochan.operations.put_object import put_object
from lochan.operations.retention import set_gc_rules
from lochan.operations.view import tokens_of
from lochan.refs.cleaner import Cleaner
from lochan.refs.open_commits import open_commits
from lochan.testing.simulation import World
from lochan.testing.simulation.environment import EPOCH
from lochan.testing.simulation.solo import SoloEnvironment
from support.lakes import MAIN, add_repository
from support.simulated_ground import NAMESPACE, PlainEnvironment
from support.simulated_lake import PAGE_ROWS, Broken

GRACE_S = 100_000.0
LONG_S = 30 * 24 * 3600.0
HOW = Collection(grace_s=GRACE_S, force=True)
QUIET = 6  # graces: two until copies are forgotten, two looks, the trash, and one to spare


class WorldClock(PlainEnvironment):
    """The world's time, for what happens outside of its processes and inside of its stores."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def now(self) -> float:
        return EPOCH + self._world._turns.elapsed

    def monotonic(self) -> float:
        return self._world._turns.elapsed


class WatchedObjects(MemoryObjects):
    """Objects in memory that let nobody delete what is alive."""

    watcher: Callable[[str], None]

    def delete(self, *addresses: str) -> None:
        for address in addresses:
            if address.startswith("data/"):
                self.watcher(address)
        super().delete(*addresses)


class CollectedScene:
    """One run: stores of its own, some history that is long past, and who is on the way."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.clock = WorldClock(world)
        self.inner = MemoryStore(self.clock)
        self._objects = WatchedObjects(self.clock)
        self._objects.watcher = self._watch
        self.repository = add_repository(self.inner, self.clock, NAMESPACE)
        self.plain = Lake.of(self.inner, self.clock, self._storage(self._objects, self.clock))
        self.store = world.store(self.inner, page_rows=PAGE_ROWS)
        self.objects = world.objects(self._objects)
        self.commits: list[Commit] = []
        self.opened: list[OpenCommitId] = []
        self.named: tuple[Block, ...] = ()
        self.on_the_way: dict[int, str] = {}
        self._numbers = 0
        self._has_removed = False
        self._prepare()

    def _storage(
        self, objects: ObjectStore, environment: Environment
    ) -> Callable[[StorageNamespace], Storage]:
        snapshots = Snapshots(Files(objects, self.clock), self.clock)
        storage = Storage(objects, AddressSource(environment), snapshots)
        return lambda _: storage

    def lake(self) -> Lake:
        """Open a lake for one process."""
        environment = SoloEnvironment(self.world.environment)
        return Lake.of(self.store, environment, self._storage(self.objects, environment))

    def _prepare(self) -> None:
        set_gc_rules(self.plain, self.repository, 0, {})
        for body in (b"1", b"2"):
            for key in ("a", "b", "c"):
                put_object(self.plain, self.repository, MAIN, ObjectKey(key.encode()), body)
            request = CommitRequest("me", "long ago")
            self.commits.append(commit(self.plain, self.repository, MAIN, request))
            self.world.environment.sleep(LONG_S)
        put_object(self.plain, self.repository, MAIN, ObjectKey(b"d"), b"staged long ago")
        self.world.environment.sleep(LONG_S)

    @contextmanager
    def under_way(self, what: str) -> Iterator[None]:
        """Be on the way with a story; errors are answers."""
        self._numbers += 1
        number = self._numbers
        self.on_the_way[number] = what
        try:
            yield
        except LochanError:
            pass
        finally:
            self.on_the_way.pop(number, None)

    def wait_a_grace(self) -> None:
        """Let all finish that are on their way, and a grace pass."""
        before = set(self.on_the_way)
        self.world._turns.switch("wait", ready=lambda: before.isdisjoint(self.on_the_way))
        self.world.environment.sleep(GRACE_S + 1)

    def alive(self) -> set[str]:
        """Name every object that a branch, a tag or a started commit shows now."""
        lake, tables = self.plain, self.plain.tables(self.repository)
        trees: set[MetaRangeId] = set()
        found: set[str] = set()
        tokens: list[StagingToken] = []
        for _, branch in tables.branches.scan():
            tokens += tokens_of(branch)
            trees.add(lake.commits.tree(self.repository, branch.commit_id))
            trees.add(branch.compacted_base_meta_range_id)
        for _, tag in tables.tags.scan():
            trees.add(lake.commits.tree(self.repository, tag.commit_id))
        for _, opened in open_commits(self.inner, self.repository).scan():
            tokens += [opened.staging_token] if opened.staging_token else []
        for token in tokens:
            for row in lake.staging.scan(token):
                if not row.is_tombstone:
                    found.update(addresses_of(decode_entry(row.data)))
        for tree in trees - {MetaRangeId(""), MetaRangeId("-")}:
            found |= self._held(tree)
        return found

    def _held(self, tree: MetaRangeId) -> set[str]:
        rows = self.plain.storage(NAMESPACE).snapshots.list(tree)
        entries = (decode_entry(row.value) for row in rows if isinstance(row, Record))
        return {address for entry in entries for address in addresses_of(entry)}

    def stored(self) -> set[str]:
        """Name every object under data/."""
        return {listed.address for listed in walk(self._objects, "data/")}

    def _watch(self, address: str) -> None:
        self._has_removed = True
        if address in self.alive():
            raise Broken(f"V13: {address} was deleted, and is alive")

    def require_living(self) -> None:
        """See that all that is alive is there."""
        if self._has_removed and (missing := self.alive() - self.stored()):
            raise Broken(f"V13: {missing} are alive, and gone")

    def check(self) -> None:
        """See that all that is alive is there, and that the rest goes when all is quiet."""
        self.require_living()
        set_gc_rules(self.plain, self.repository, 0, {})
        for _ in range(QUIET):
            self.world.environment.sleep(GRACE_S + 1)
            Cleaner(self.inner, self.clock, grace_s=0).run()
            collect(self.plain, self.repository, HOW)
        self.world.environment.sleep(GRACE_S + 1)
        empty_trash(self.plain, self.repository, HOW)
        if missing := self.alive() - self.stored():
            raise Broken(f"V13: {missing} are alive, and gone in the end")
        if left := self.stored() - self.alive() - self._kept():
            raise Broken(f"V13: {left} are dead for long, and still there")

    def _kept(self) -> set[str]:
        """Name what started commits stand on, or became, while somebody may ask for them."""
        found: set[str] = set()
        for _, opened in open_commits(self.inner, self.repository).scan():
            if opened.parent:
                found |= self._held(self.plain.commits.tree(self.repository, opened.parent))
            if opened.commit_id:
                found |= self._held(self.plain.commits.tree(self.repository, opened.commit_id))
        return found
