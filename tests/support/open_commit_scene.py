# SPDX-License-Identifier: Apache-2.0
"""Processes around one open commit in a simulated world: putters, finishers, others, a cleaner.

Each process has a lake of its own over one simulated store: at every KV call another may run. In
the end the commit is in the history once, and holds what was acknowledged before it was finished:
every put once, its blocks together, each putter's in their order.
"""

from collections.abc import Callable
from contextlib import suppress

from lochan.committed import Files, Snapshots
from lochan.environment import Environment, RealEnvironment
from lochan.errors import Conflict, LochanError, NotFound
from lochan.faults import Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.ids import StorageNamespace
from lochan.model.records import Commit
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.lake import Lake, Storage
from lochan.operations.open_commits.published import MARK
from lochan.refs.cleaner import Cleaner
from lochan.testing.simulation.faults import random_faults
from lochan.testing.simulation.world import World
from support.lakes import Stage, add_repository
from support.open_commits import Desk

REAL = RealEnvironment()
PUTTERS, PUTS, FINISHERS, SWEEPS = 2, 2, 2, 4


class Wrong(AssertionError):
    """A promise was broken."""


class Scene:
    """One run: who was told what."""

    def __init__(self, seed: int, lost: int = 0) -> None:
        """Start a commit, and set the processes around it; every third begins a branch.

        So many answers are lost on their way back.
        """
        plan = random_faults(seed, 0.03, [Fault.LOST_RESPONSE, Fault.LOST_REQUEST], most=lost)
        self.world = World(seed, plan=plan)
        self._inner = MemoryStore(REAL)
        namespace = StorageNamespace(f"mem://{REAL.new_id()}")
        self._objects = MemoryObjects.open(namespace, REAL)
        self._repository = add_repository(self._inner, REAL, namespace)
        self._desk = self._at(self._inner, REAL)
        self._opened = self._desk.start(branch="new" if seed % 3 == 0 else "main")
        self.acknowledged: list[str] = []
        self.finished: set[str] = set()
        store = self.world.store(self._inner)
        for number in range(PUTTERS):
            self.world.spawn(self._putter(self._at(store, self.world.environment), number))
        for _ in range(FINISHERS):
            self.world.spawn(self._finisher(self._at(store, self.world.environment)))
        self.world.spawn(self._committer(self._at(store, self.world.environment)))
        self.world.spawn(lambda: self._sweep(store))

    def run(self) -> int:
        """Run to the end and check; gives the number of steps. Raises Wrong."""
        self.world.run()
        with suppress(Conflict, NotFound):
            self.finished.add(self._desk.finish(self._opened).id)
        self._check(self._chain(self._opened.branch))
        return len(self.world.trace)

    def _at(self, store: Store, environment: Environment) -> Desk:
        snapshots = Snapshots(Files(self._objects, environment), environment)
        storage = Storage(self._objects, AddressSource(environment), snapshots)
        lake = Lake.of(store, environment, lambda _: storage)
        return Desk(Stage(lake, self._repository, storage))

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

    def _sweep(self, store: Store) -> None:
        for _ in range(SWEEPS):
            Cleaner(store, self.world.environment, grace_s=0).run()

    def _chain(self, branch: str) -> list[Commit]:
        tables = self._desk.stage.lake.tables(self._repository)
        found = [self._desk.head(branch)]
        while found[-1].parents:
            found.append(tables.commits.get(found[-1].parents[0].encode()).record)
        return found

    def _check(self, history: list[Commit]) -> None:
        made = [commit for commit in history if commit.metadata.get(MARK) == self._opened.id]
        if len(made) != 1 or not self.finished <= {made[0].id}:
            raise Wrong(f"seed {self.world.seed}: told {self.finished}, published {made}")
        content = self._desk.files(made[0]).get("f", b"").decode()
        places = [content.find(piece) for piece in self.acknowledged]
        pieces = content.strip("<>").split("><")
        if len(set(pieces)) < len(pieces) or -1 in places:
            raise Wrong(f"seed {self.world.seed}: {self.acknowledged} became {content!r}")
        for number in range(PUTTERS):
            mine = [p for p in self.acknowledged if p.startswith(f"<{number}.")]
            if sorted(mine, key=content.find) != mine:
                raise Wrong(f"seed {self.world.seed}: out of order in {content!r}")


def run_seeds(first: int, count: int, lost: int = 0) -> int:
    """Run scenes with so many seeds; gives the number of steps."""
    return sum(Scene(seed, lost).run() for seed in range(first, first + count))
