# SPDX-License-Identifier: Apache-2.0
"""What simulated scenes stand on: a prepared lake that is copied for each run, cheaply.

Trees are named by their content, so what one run has written is the same for every other: all runs
share one object store and one set of snapshots, and an answer that was worked out once is kept.
Scenes that want object-store calls as switch points ask for objects of their own instead.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from hashlib import sha256
from itertools import count

from lochan.committed import Applied, Files, Snapshots
from lochan.committed.merge import Merged
from lochan.committed.parallel import OwnThread
from lochan.environment import Event, RealEnvironment
from lochan.kernel.interface import Breathe
from lochan.kernel.records import Record, Records
from lochan.kv.drivers.memory import MemoryStore, _Partition
from lochan.kv.store import Store
from lochan.model.codec import decode_entry
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, MetaRangeId, ObjectKey, StorageNamespace
from lochan.model.instant import from_seconds
from lochan.model.records import Branch, Commit, Repository
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake, Storage
from lochan.operations.list_objects import list_objects
from lochan.operations.put_object import stage_entry
from lochan.testing.simulation.environment import EPOCH
from support.lakes import MAIN, add_repository

NAMESPACE = StorageNamespace("mem://simulated")
MOST_KEPT = 5_000  # trees of runs that are over

Tree = dict[str, str]
Rows = tuple[tuple[Record, ...], ...]


class _Happened:
    """An event of a single thread: whoever waits for it has set it."""

    def set(self) -> None:
        return

    def wait(self) -> object:
        return True


class PlainEnvironment(RealEnvironment):
    """One thread, a clock that stands, and ids that count: for what happens outside of runs."""

    def __init__(self) -> None:
        self._ids = count(1)
        self._drawn = count(1)

    def now(self) -> float:
        return EPOCH

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:  # noqa: ARG002 - time stands
        return

    def new_id(self) -> str:
        return f"{next(self._ids):032x}"

    def random_bytes(self, count: int) -> bytes:
        """Draw what is the same in every process: addresses decide in which order rows lie."""
        return sha256(b"%d" % next(self._drawn)).digest()[:count]

    def lock(self) -> AbstractContextManager[object]:
        return nullcontext()

    def event(self) -> Event:
        return _Happened()

    def executor(self, threads: int, *, background: bool = False) -> Executor:  # noqa: ARG002 - one thread
        return OwnThread()

    def preemptions(self) -> int:
        return 0


PLAIN = PlainEnvironment()
REAL = RealEnvironment()  # for stores in memory, which take no more than a lock from it


class RememberedSnapshots(Snapshots):
    """Snapshots that work out each tree once, in whatever run it is asked for."""

    def __init__(self, files: Files) -> None:
        super().__init__(files, PLAIN)
        self._applied: dict[tuple[MetaRangeId, Rows], Applied] = {}
        self._merged: dict[tuple[MetaRangeId, MetaRangeId, MetaRangeId, str], Merged] = {}
        self._trees: dict[MetaRangeId, Tree] = {}

    def apply(
        self,
        base: MetaRangeId,
        changes: Iterable[Records],
        *,
        breathe: Breathe = None,
    ) -> Applied:
        chunks = list(changes)  # reads the staged rows, as the real one does
        rows = tuple(tuple(chunk) for chunk in chunks)
        if (base, rows) not in self._applied:
            self._applied[base, rows] = super().apply(base, iter(chunks), breathe=breathe)
        return self._applied[base, rows]

    def merge(
        self, base: MetaRangeId, dest: MetaRangeId, source: MetaRangeId, strategy: str = ""
    ) -> Merged:
        sides = (base, dest, source, strategy)
        if sides not in self._merged:
            self._merged[sides] = super().merge(*sides)
        return self._merged[sides]

    def tree(self, id: MetaRangeId) -> Tree:  # noqa: A002 - the seeds' word
        """Give all that a snapshot holds, as the history wants it."""
        if id not in self._trees:
            found = (record for record in self.list(id) if isinstance(record, Record))
            self._trees[id] = {record.key.decode(): tag_of(record) for record in found}
        return self._trees[id]

    def forget(self) -> None:
        """Drop what past runs have made, once it is much; grounds keep theirs."""
        if len(self._applied) < MOST_KEPT:
            return
        for known in (self._applied, self._merged, self._trees):
            known.clear()
        stored = OBJECTS._contents.objects
        for address in stored.keys() - _grounds:
            del stored[address]
        OBJECTS._contents.order = None
        self.files = Files(OBJECTS, PLAIN)


_grounds: set[str] = set()  # the objects that grounds stand on
OBJECTS = MemoryObjects.open(NAMESPACE, PLAIN)
SNAPSHOTS = RememberedSnapshots(Files(OBJECTS, PLAIN))
STORAGE = Storage(OBJECTS, AddressSource(PLAIN), SNAPSHOTS)


def entry_of(tag: str) -> Entry:
    """Make the entry that stands for one write; its address tells which."""
    return Entry(address=tag, last_modified=from_seconds(1), size=1, e_tag=tag)


_tags: dict[bytes, str] = {}


def tag_of(record: Record) -> str:
    """Name the write that made a record."""
    if record.value not in _tags:
        _tags[record.value] = decode_entry(record.value).address
    return _tags[record.value]


class Ground:
    """A lake with one repository, prepared once by the real stories, and copied for each run."""

    def __init__(self, prepare: Callable[["Ground"], object] = lambda _: None) -> None:
        self._store = MemoryStore(REAL)
        self.repository: Repository = add_repository(self._store, PLAIN, NAMESPACE)
        self.lake = plain_lake(self._store)
        self.commits: dict[str, Commit] = {}
        self._changes: dict[tuple[str, bool], dict[str, str | None]] = {}
        prepare(self)
        _grounds.update(OBJECTS._contents.objects)

    @classmethod
    def of(cls, store: MemoryStore, before: "Ground") -> "Ground":
        """Take what a run has left for the ground of the next."""
        ground = cls.__new__(cls)
        ground._store, ground.repository = store, before.repository
        ground.lake, ground.commits = plain_lake(store), before.commits
        ground._changes = before._changes
        return ground

    def put(self, key: str, tag: str, branch: str = MAIN) -> None:
        """Stage a write."""
        where = (self.repository, BranchName(branch))
        stage_entry(self.lake, *where, ObjectKey(key.encode()), entry_of(tag))

    def commit(self, name: str, branch: str = MAIN) -> Commit:
        """Commit what is staged, and remember the commit by a name."""
        request = CommitRequest("", name, allow_empty=True)
        self.commits[name] = commit(self.lake, self.repository, BranchName(branch), request)
        return self.commits[name]

    def branch(self, name: str, commit: str) -> None:
        """Make a branch at a commit."""
        create_branch(self.lake, self.repository, BranchName(name), self.commits[commit].id)

    def changes(self, name: str, *, back: bool = False) -> dict[str, str | None]:
        """Say what a commit did to each key, or what undoes it."""
        if (name, back) not in self._changes:
            self._changes[name, back] = self._changed(name, back=back)
        return self._changes[name, back]

    def _changed(self, name: str, *, back: bool) -> dict[str, str | None]:
        commits = self.lake.tables(self.repository).commits
        made = self.commits[name]
        parent = commits.get(made.parents[0].encode()).record
        was, became = (SNAPSHOTS.tree(commit.meta_range_id) for commit in (parent, made))
        if back:
            was, became = became, was
        return {k: became.get(k) for k in {*was, *became} if was.get(k) != became.get(k)}

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The branches as they are in the beginning."""
        return tuple(b for _, b in self.lake.tables(self.repository).branches.scan())

    @cached_property
    def state(self) -> Tree:
        """What all branches show in the beginning."""
        return shown(self.lake, self.repository, [b.branch_id for b in self.branches])

    def copy(self) -> MemoryStore:
        """Give a store of its own with everything that was prepared."""
        return copy_of(self._store)


def copy_of(store: MemoryStore) -> MemoryStore:
    """Copy a store, row by row."""
    copied = MemoryStore(REAL)
    for name, partition in store._partitions.items():
        copied._partitions[name] = own = _Partition()
        own.keys, own.values = partition.keys.copy(), partition.values.copy()
    return copied


def plain_lake(store: Store) -> Lake:
    """Open a lake outside of any run, whose every call goes straight through."""
    return Lake.of(store, PLAIN, lambda _: STORAGE)


def shown(lake: Lake, repository: Repository, branches: Iterable[BranchName]) -> Tree:
    """List branches through a lake, under names that tell them apart."""
    found: Tree = {}
    for name in branches:
        for record in list_objects(lake, repository, name).items:
            assert isinstance(record, Record)
            found[f"{name}:{record.key.decode()}"] = tag_of(record)
    return found
