# SPDX-License-Identifier: Apache-2.0
"""Scenes of two servers on one branch: one forgets what the other commits or writes.

Before they begin, key a is committed and one key is staged: x, or a again, unchanged. Branch dev
has another x committed. Each server has a lake of its own over one simulated store, and at every KV
call the other may run.
"""

from collections.abc import Callable
from functools import partial

from lochan.committed import Files, Snapshots
from lochan.environment import Environment, RealEnvironment
from lochan.errors import InvalidInput, LochanError, Refused
from lochan.kernel.records import Record
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.store import Store
from lochan.model.entry import Entry
from lochan.model.ids import BranchName, ObjectKey, StorageNamespace
from lochan.model.instant import from_seconds
from lochan.model.records import Commit
from lochan.objects.address import AddressSource
from lochan.objects.drivers.memory import MemoryObjects
from lochan.operations.branches import create_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.lake import Lake, Storage
from lochan.operations.put_object import stage_entry
from lochan.operations.view import find_record, read_stably
from lochan.testing.simulation import World
from support.lakes import MAIN, add_repository

NAMESPACE = StorageNamespace("mem://reset-scenes")
REAL = RealEnvironment()
OBJECTS = MemoryObjects.open(NAMESPACE, REAL)
# What snapshots hold is named by its content, so all runs may share them.
SNAPSHOTS = Snapshots(Files(OBJECTS, REAL), REAL, threads=1)
STORAGE = Storage(OBJECTS, AddressSource(REAL), SNAPSHOTS)

DEV = BranchName("dev")
A, X, Y = ObjectKey(b"a"), ObjectKey(b"x"), ObjectKey(b"y")
Story = Callable[["ResetScene", Lake], object]


class ResetScene:
    """One run: the answer that each server got, and what is there in the end."""

    def __init__(
        self,
        world: World,
        staged: ObjectKey = X,
        before: Story | None = None,
        **stories: Story,
    ) -> None:
        """Prepare the branch, and let servers begin with their stories."""
        self._inner = MemoryStore(REAL)
        self.repository = add_repository(self._inner, world.environment, NAMESPACE)
        lake = self._lake(self._inner, world.environment)
        self.put(lake, A)
        self.first = self.commit(lake)
        commits = lake.tables(self.repository).commits
        self.root = commits.get(self.first.parents[0].encode()).record
        create_branch(lake, self.repository, DEV, self.first.id)
        self.put(lake, X, DEV)
        self.theirs = self.commit(lake, DEV)
        self.put(lake, staged)
        if before is not None:
            before(self, lake)
        self.answers: dict[str, object] = {}
        store = world.store(self._inner)
        for name, story in stories.items():
            own = self._lake(store, world.environment)
            world.spawn(partial(self.serve, name, story, own), name)

    def put(self, lake: Lake, key: ObjectKey, branch: BranchName = MAIN) -> None:
        """Stage a write of a key; each branch has its own content."""
        entry = Entry(address=branch, last_modified=from_seconds(1), size=1, e_tag=branch)
        stage_entry(lake, self.repository, branch, key, entry)

    def commit(self, lake: Lake, branch: BranchName = MAIN) -> Commit:
        """Commit what is staged."""
        return commit(lake, self.repository, branch, CommitRequest("", "a commit"))

    @property
    def lake(self) -> Lake:
        """The lake as it is when all have ended."""
        return self._lake(self._inner, REAL)

    @property
    def head(self) -> Commit:
        """The commit at which the branch stands."""
        branch = self.lake.branches.fresh(self.repository, MAIN).record
        return self.lake.tables(self.repository).commits.get(branch.commit_id.encode()).record

    def line(self) -> list[Commit]:
        """Give the commits from the first on to the head."""
        commits = self.lake.tables(self.repository).commits
        found = [self.head]
        while found[-1] != self.first:
            found.append(commits.get(found[-1].parents[0].encode()).record)
        return found[::-1]

    def held(self, tip: Commit, key: ObjectKey) -> Record | None:
        """Give what a commit holds for a key."""
        return SNAPSHOTS.get(tip.meta_range_id, key)

    def holds(self, tip: Commit, key: ObjectKey) -> bool:
        """Say whether a commit holds a key."""
        return self.held(tip, key) is not None

    def shown(self, key: ObjectKey) -> Record | None:
        """Give what the branch shows for a key."""
        lake = self.lake
        return read_stably(
            lake, self.repository, MAIN, lambda one: find_record(lake, self.repository, one, key)
        )

    def shows(self, key: ObjectKey) -> bool:
        """Say whether the branch shows a key."""
        return self.shown(key) is not None

    def serve(self, name: str, story: Story, lake: Lake) -> None:
        """Run a story and keep its answer, or why it was refused."""
        try:
            self.answers[name] = story(self, lake)
        except (InvalidInput, Refused) as error:
            self.answers[name] = error.code
        except LochanError as error:
            self.answers[name] = type(error)

    def _lake(self, store: Store, environment: Environment) -> Lake:
        return Lake.of(store, environment, lambda _: STORAGE)
