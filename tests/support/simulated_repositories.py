# SPDX-License-Identifier: Apache-2.0
"""The life of repositories in a simulated world: creators, deleters, writers and cleaners at once.

What must hold in the end, whatever the order: an active repository is whole (R2); an incarnation
that was acknowledged and that no deleter had read is there (R16, and R1: a name has one record).
The end of a repository is a delete of all its keys, so the history says whether a writer was told
of success after it (R17).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from lochan.errors import Conflict, NotFound
from lochan.kv.store import Store, Versioned
from lochan.model.clock import own
from lochan.model.codec import decode_repository
from lochan.model.keys import GRAVELER, clock_key, partition_of
from lochan.model.records import Repository, RepositoryState
from lochan.refs import deletion
from lochan.refs.clock_index import ClockIndex
from lochan.refs.creation import create_repository
from lochan.refs.repositories import CREATION_S, get_repository
from lochan.refs.tables import RepositoryTables, repositories
from lochan.testing.simulation import World
from support.lakes import MAIN, NAME
from support.protocol_scopes import STAGED, Scope, cleans, reads
from support.simulated_client import KEYS, Work
from support.simulated_ground import NAMESPACE, Ground
from support.simulated_lake import Broken, Scene
from support.simulated_mover import Mover


class _Watched:
    """A store that remembers which incarnation it was first asked about."""

    def __init__(self, store: Store, scene: "RepositoryScene") -> None:
        self._store = store
        self._scene = scene
        self._looked = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def get(self, partition: bytes, key: bytes) -> Versioned:
        found = self._store.get(partition, key)
        if partition == GRAVELER and not self._looked:
            self._looked = True
            self._scene.doomed.add(decode_repository(found.value).unique_identifier)
        return found


class RepositoryScene(Scene):
    """A scene in which repositories come and go."""

    def __init__(self, world: World, ground: Ground, *, faulty: bool = False) -> None:
        super().__init__(world, ground, faulty=faulty)
        self.created: list[Repository] = []
        self.doomed: set[str] = set()  # incarnations that a deleter has read

    def check(self) -> Hashable:
        outcome = super().check()
        found = repositories(self.inner).find(NAME.encode())
        now = found.record if found else None
        if now is not None and now.repository_state is RepositoryState.ACTIVE:
            self._check_whole(now)
        lost = [
            made.unique_identifier
            for made in self.created
            if made.unique_identifier not in self.doomed
            and (now is None or now.unique_identifier != made.unique_identifier)
        ]
        if lost:
            raise Broken(
                f"R16: {lost} were created, nobody asked to delete them, and they are gone"
            )
        return outcome, len(self.created), now.repository_state.name if now else "absent"

    def _check_whole(self, repository: Repository) -> None:
        tables = RepositoryTables.of(self.inner, repository)
        try:
            branch = tables.branches.get(MAIN.encode()).record
            head = tables.commits.get(branch.commit_id.encode()).record
            # A creation ends after this row. A commit's is found without it, if its write failed.
            if not (self.faulty and head.parents):
                self.inner.get(partition_of(repository), clock_key(*own(head)))
            ClockIndex.of(self.inner, repository).require_published(head)
        except (Conflict, NotFound) as error:
            raise Broken(f"R2: an active repository lacks what belongs to it: {error}") from error


class RepositoryClient(Mover):
    """A caller that creates and deletes repositories, too."""

    scene: RepositoryScene

    def create(self) -> None:
        def work() -> None:
            made = create_repository(
                self.lake.store, self.lake.environment, NAME, NAMESPACE, MAIN, committer=self.name
            )
            self.scene.created.append(made)

        self._told(work)

    def end(self) -> None:
        """Delete the repository of the name, whichever it is."""
        store = _Watched(self.lake.store, self.scene)
        everything = dict.fromkeys(f"{MAIN}:{key}" for key in KEYS)
        self._writes(
            everything,
            lambda: deletion.delete_repository(store, self.lake.environment, NAME),  # type: ignore[arg-type]
        )()

    def look(self) -> None:
        """Ask for the repository of the name."""
        self._told(lambda: get_repository(self.lake.store, self.lake.environment, NAME))

    def wait(self) -> None:
        """Let the clock jump to when creations are given up."""
        self.scene.world.jump(CREATION_S + 1)


@dataclass(frozen=True)
class RepositoryScope(Scope):
    """Who does what to the repositories of a ground."""

    empty: bool = False  # whether the name is free in the beginning

    def make(self, world: World, *, faulty: bool = False) -> RepositoryScene:
        scene = RepositoryScene(world, self.ground, faulty=faulty)
        if self.empty:
            repositories(scene.inner).delete(NAME.encode())
        for name, part in self.cast.items():
            client = RepositoryClient(scene, name)
            client.does(*part(client))
        return scene


BARE = Ground()


def writes_twice(client: RepositoryClient) -> Sequence[Work]:
    return [client.put("a", "a2"), client.put("b", "b2")]


REPOSITORY_SCOPES: dict[str, RepositoryScope] = {
    "two creations": RepositoryScope(
        BARE, {"one": lambda c: [c.create], "two": lambda c: [c.create]}, empty=True
    ),
    "creation, look": RepositoryScope(
        BARE, {"creator": lambda c: [c.create], "looker": lambda c: [c.look]}, empty=True
    ),
    "creation, cleaner": RepositoryScope(
        BARE, {"creator": lambda c: [c.create], "cleaner": cleans}, empty=True
    ),
    "slow creation, look and clean": RepositoryScope(
        BARE,
        {"creator": lambda c: [c.create], "looker": lambda c: [c.look, c.wait, c.look, c.sweep()]},
        empty=True,
    ),
    "slow creation, another creation": RepositoryScope(
        BARE,
        {"creator": lambda c: [c.create], "other": lambda c: [c.look, c.wait, c.create]},
        empty=True,
    ),
    "end, write": RepositoryScope(STAGED, {"ender": lambda c: [c.end], "writer": writes_twice}),
    "end, read": RepositoryScope(STAGED, {"ender": lambda c: [c.end], "reader": reads}),
    "end, commit": RepositoryScope(
        STAGED, {"ender": lambda c: [c.end], "committer": lambda c: [c.commit()]}
    ),
    "end and creation, write": RepositoryScope(
        STAGED, {"ender": lambda c: [c.end, c.create], "writer": writes_twice}
    ),
    "end and clean, write": RepositoryScope(
        STAGED, {"ender": lambda c: [c.end, c.sweep()], "writer": writes_twice}
    ),
    "two ends": RepositoryScope(STAGED, {"one": lambda c: [c.end], "two": lambda c: [c.end]}),
    "two ends, a creation": RepositoryScope(
        STAGED, {"one": lambda c: [c.end, c.create], "two": lambda c: [c.end]}
    ),
    "end, creation, cleaner": RepositoryScope(
        STAGED, {"ender": lambda c: [c.end], "creator": lambda c: [c.create], "cleaner": cleans}
    ),
}
