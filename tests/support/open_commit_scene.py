# SPDX-License-Identifier: Apache-2.0
"""Processes around one open commit in a simulated world: putters, finishers, others, a cleaner,
and on demand one that resets the branch.

Each process has a lake of its own over one simulated store: at every KV call another may run. In
the end the commit was published once, and holds what was acknowledged before it was finished:
every put once, its blocks together, each putter's in their order. Unless the branch was reset, it
is in its history.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from lochan.committed import Files, Snapshots
from lochan.environment import Environment, RealEnvironment
from lochan.errors import Conflict, LochanError, NotFound
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.clock import own
from lochan.model.ids import StorageNamespace
from lochan.model.records import Commit, OpenCommit, Slot
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Lake, Storage
from lochan.operations.open_commits.published import MARK
from lochan.refs.cleaner import Cleaner
from lochan.refs.clock_index import ClockIndex
from lochan.testing.simulation.faults import random_faults
from lochan.testing.simulation.world import World
from support.lakes import MAIN, Stage, add_repository
from support.open_commits import Desk

REAL = RealEnvironment()
LOST = (Fault.LOST_RESPONSE, Fault.LOST_REQUEST)
PUTTERS, PUTS, FINISHERS, SWEEPS = 2, 2, 2, 4


class Wrong(AssertionError):
    """A promise was broken."""


class Ground:
    """A repository in memory, and desks of the processes that work on it."""

    def __init__(self) -> None:
        """Make a repository with an empty branch main."""
        namespace = StorageNamespace(f"mem://{REAL.new_id()}")
        self.inner = MemoryStore(REAL)
        self.repository = add_repository(self.inner, REAL, namespace)
        self._objects = MemoryObjects.open(namespace, REAL)
        self.desk = self.at(self.inner, REAL)

    def at(self, store: Store, environment: Environment) -> Desk:
        """Give the desk of one process, with a lake of its own."""
        snapshots = Snapshots(Files(self._objects, environment), environment)
        storage = Storage(self._objects, AddressSource(environment), snapshots)
        lake = Lake.of(store, environment, lambda _: storage)
        return Desk(Stage(lake, self.repository, storage))

    def chain(self, branch: str) -> list[Commit]:
        """Give the commits of a branch from its head down."""
        tables = self.desk.stage.lake.tables(self.repository)
        found = [self.desk.head(branch)]
        while found[-1].parents:
            found.append(tables.commits.get(found[-1].parents[0].encode()).record)
        return found

    def published(self, opened: OpenCommit) -> list[Commit]:
        """Give the commits that came of an open one, on a branch or left behind by a reset."""
        index = ClockIndex.of(self.inner, self.repository)
        return [
            commit
            for _, commit in self.desk.stage.lake.tables(self.repository).commits.scan()
            if commit.metadata.get(MARK) == opened.id and index.find(own(commit)) == commit.id
        ]


class Scene:
    """One run: who was told what."""

    def __init__(
        self, seed: int, faults: int = 0, kinds: Sequence[Fault] = LOST, resets: int = 0
    ) -> None:
        """Start a commit, and set the processes around it; every third begins a branch.

        So many calls fail, at random, and so often is branch main reset to where it began.
        """
        self.world = World(seed, plan=random_faults(seed, 0.03, kinds, most=faults))
        ground = self._ground = Ground()
        self._desk = ground.desk
        self._first = self._desk.head()
        for _ in range(resets):  # so that a reset goes back further than others go on
            self._desk.commit(branch="main", g=b"before")
        self._opened = self._desk.start(branch="new" if seed % 3 == 0 else "main")
        self._resets = resets
        self.acknowledged: list[str] = []
        self.finished: set[str] = set()
        store = self.world.store(ground.inner)
        for number in range(PUTTERS):
            self.world.spawn(self._putter(ground.at(store, self.world.environment), number))
        for _ in range(FINISHERS):
            self.world.spawn(self._finisher(ground.at(store, self.world.environment)))
        self.world.spawn(self._committer(ground.at(store, self.world.environment)))
        self.world.spawn(lambda: self._sweep(store))
        if resets:
            self.world.spawn(self._resetter(ground.at(store, self.world.environment)))

    def run(self) -> int:
        """Run to the end and check; gives the number of steps. Raises Wrong."""
        self.world.run()
        with suppress(Conflict, NotFound):
            self.finished.add(self._desk.finish(self._opened).id)
        self._check()
        return len(self.world.trace)

    def _putter(self, desk: Desk, number: int) -> Callable[[], None]:
        def work() -> None:
            for turn in range(PUTS):
                piece = f"<{number}.{turn}>"
                with suppress(LochanError):
                    desk.put(self._opened, "f", piece.encode())
                    self.acknowledged.append(piece)

        return work

    def _finisher(self, desk: Desk) -> Callable[[], None]:
        def work() -> None:
            with suppress(LochanError):
                self.finished.add(desk.finish(self._opened).id)

        return work

    def _committer(self, desk: Desk) -> Callable[[], None]:
        def work() -> None:
            with suppress(LochanError):
                desk.commit(branch="main", g=b"other")

        return work

    def _resetter(self, desk: Desk) -> Callable[[], None]:
        def work() -> None:
            for _ in range(self._resets):
                with suppress(LochanError):
                    hard_reset(*desk.where, MAIN, self._first, force=True)

        return work

    def _sweep(self, store: Store) -> None:
        for _ in range(SWEEPS):
            Cleaner(store, self.world.environment, grace_s=0).run()

    def _check(self) -> None:
        made = self._ground.published(self._opened)
        if len(made) != 1 or not self.finished <= {made[0].id}:
            raise Wrong(f"seed {self.world.seed}: told {self.finished}, published {made}")
        if not self._resets and made[0] not in self._ground.chain(self._opened.branch):
            raise Wrong(f"seed {self.world.seed}: {made[0].id} is not on {self._opened.branch}")
        content = self._desk.files(made[0]).get("f", b"").decode()
        places = [content.find(piece) for piece in self.acknowledged]
        pieces = content.strip("<>").split("><")
        if len(set(pieces)) < len(pieces) or -1 in places:
            raise Wrong(f"seed {self.world.seed}: {self.acknowledged} became {content!r}")
        for number in range(PUTTERS):
            mine = [p for p in self.acknowledged if p.startswith(f"<{number}.")]
            if sorted(mine, key=content.find) != mine:
                raise Wrong(f"seed {self.world.seed}: out of order in {content!r}")


def run_seeds(
    first: int, count: int, faults: int = 0, kinds: Sequence[Fault] = LOST, resets: int = 0
) -> int:
    """Run scenes with so many seeds; gives the number of steps."""
    seeds = range(first, first + count)
    return sum(Scene(seed, faults, kinds, resets).run() for seed in seeds)


def run_rivals(seed: int, slot: Slot) -> set[str]:
    """Let three commits that want one place be finished at once; gives the hashes told."""
    world, ground, told = World(seed), Ground(), set[str]()
    desk = ground.desk
    branch = {Slot.BEGINS: "new", Slot.CONTINUES: None, Slot.FOLLOWS: "main"}[slot]
    parent = desk.head().id if slot is Slot.CONTINUES else None
    opened = [desk.start(parent, branch) for _ in range(3)]
    store = world.store(ground.inner)

    def finish(mine: Desk, number: int) -> None:
        with suppress(Conflict):
            told.add(mine.finish(opened[number]).id)

    for number in range(3):
        world.spawn(partial(finish, ground.at(store, world.environment), number))
    world.run()
    history = ground.chain(opened[0].branch)
    published = [commit for commit in history if MARK in commit.metadata]
    if {commit.id for commit in published} != told:
        raise Wrong(f"seed {seed}: told {told}, published {published}")
    if len({commit.clocks[-1] for commit in history}) < len(history):
        raise Wrong(f"seed {seed}: two commits have one clock")
    return told
