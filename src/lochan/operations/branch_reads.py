# SPDX-License-Identifier: Apache-2.0
"""Branch records: as last seen, or as they surely are now.

Seed 004 lets a story begin with a branch record of any age, as long as it ends with a fresh one: a
stale beginning only costs a repetition (G13). A fresh read also asks for the repository, since its
branches are there until the cleaner comes: what belongs to a deleted one must be refused at once
(R17). That record holds the rules of branch protection and the read-only flag too, so that a rule
acknowledged anywhere binds whoever reads after that, without another read (H14). Everything is kept
by the repository's unique identifier, never by its name (H14).
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, cast

from lochan.environment import Environment
from lochan.errors import NotFound, RepositoryDeleting, RepositoryNotFound, Unavailable
from lochan.kv.read import find
from lochan.kv.set_many import set_many
from lochan.kv.store import GetAtOnce, Predicate, SetIfAll, SetThenGet, Store, Versioned
from lochan.kv.store import Place as KvPlace
from lochan.kv.table import Stored
from lochan.model.codec import decode_branch, decode_repository
from lochan.model.ids import BranchName, RepositoryId, UniqueIdentifier
from lochan.model.keys import BRANCHES, GRAVELER, REPOSITORIES, repository_partition
from lochan.model.records import Branch, Repository, RepositoryState
from lochan.refs.fresh import FreshReads
from lochan.refs.outcomes import begun
from lochan.refs.tables import RepositoryTables

SEEN_FOR_S = 1.0  # how old a record may be at the beginning of a story
_MOST_SEEN = 10_000

# A record is read again and again and seldom changes; equal bytes are an equal record.
_decode_branch = lru_cache(_MOST_SEEN)(decode_branch)
_decode_repository = lru_cache(_MOST_SEEN)(decode_repository)


@dataclass(frozen=True, slots=True)
class BranchRead(Stored[Branch]):
    """A branch as read, with its repository as it was read just after."""

    repository: Repository


@dataclass(frozen=True, slots=True)
class SeenRepository:
    """A repository as last seen, and a store that can make a write depend on its being so."""

    record: Repository
    unchanged: Mapping[KvPlace, Predicate]
    store: SetIfAll
    tables: RepositoryTables


class _Place(NamedTuple):
    """Where a branch record lies; the repository is the incarnation that the story holds."""

    repository_id: RepositoryId
    unique_identifier: UniqueIdentifier
    branch: BranchName


class BranchReads:
    """Reads of branch records, shared by all stories of a process."""

    def __init__(self, store: Store, environment: Environment) -> None:
        """Read from this store."""
        self._store = store
        self._environment = environment
        self._fresh = FreshReads[BranchRead](self._read, environment)
        self._lock = environment.lock()
        self._seen: dict[_Place, tuple[float, BranchRead, bytes]] = {}  # when, what, and its owner
        self._owners: dict[UniqueIdentifier, tuple[float, SeenRepository]] = {}
        self._compares = store if isinstance(store, SetIfAll) else None
        self._near = store if isinstance(store, GetAtOnce) else None
        self._reads_with_writes = store if isinstance(store, SetThenGet) else None
        self.asked = 0  # how often stories asked; who works long gives way where this grows

    def seen(self, repository: Repository, name: BranchName) -> BranchRead:
        """Give a record that may be a second old, as may be its repository's. Raises NotFound."""
        with self._lock:
            found = self._seen.get(_place(repository, name))
        if found is not None and self._environment.monotonic() - found[0] < SEEN_FOR_S:
            return found[1]
        return self.fresh(repository, name)

    def fresh(self, repository: Repository, name: BranchName) -> BranchRead:
        """Give the record as it was at some time after this call began (G17).

        Raises: NotFound; RepositoryNotFound or RepositoryDeleting when the repository is no longer
        the one that the caller holds.
        """
        self.asked += 1
        return self._fresh.read(_place(repository, name))

    def recall(
        self, repository: Repository, name: BranchName, look: Callable[[Branch], KvPlace]
    ) -> tuple[Branch, Versioned | None] | None:
        """Give a branch, and one more record that the branch leads to, as both were just now.

        The record was last seen some time ago, and `look` says what is wanted by it. It is read
        again together with what is wanted, at one instant. None says nothing: it has changed, or
        was never seen, or the store cannot be asked without waiting.
        """
        place = _place(repository, name)
        known = self._seen.get(place)
        if known is None or self._near is None:
            return None
        _, read, owner_then = known
        try:
            branch, owner, wanted = self._near.get_at_once(*_keys(place), look(read.record))
        except Unavailable:
            return None
        if branch is None or owner is None or owner.value != owner_then:
            return None
        return (read.record, wanted) if branch.predicate == read.predicate else None

    def fresh_after(
        self,
        repository: Repository,
        name: BranchName,
        partition: bytes,
        rows: Mapping[bytes, bytes],
    ) -> BranchRead:
        """Store rows, then give the record as it was after that.

        Where the store can, both are one call: a writer's wait is then as long as the write alone.
        Raises: as `fresh`; what storing raises.
        """
        if self._reads_with_writes is None:
            set_many(self._store, partition, rows)
            with begun(f"a write to branch {name!r}"):
                return self.fresh(repository, name)
        self.asked += 1
        place = _place(repository, name)
        began = self._environment.monotonic()
        branch, owner = self._reads_with_writes.set_then_get(partition, rows, *_keys(place))
        return self._believed(place, began, branch, owner)

    def fresh_repository(self, repository: Repository) -> Repository:
        """Give a repository's own record as it is now: state, rules, flags.

        Raises: RepositoryNotFound, RepositoryDeleting.
        """
        name, began = repository.repository_id, self._environment.monotonic()
        place = (GRAVELER, REPOSITORIES + name.encode())
        found = find(self._store, *place)
        record = _active(found, name, repository.unique_identifier)
        if found is not None and self._compares is not None:
            tables = RepositoryTables.of(self._store, repository)
            seen = SeenRepository(record, {place: found.predicate}, self._compares, tables)
            with self._lock:
                if len(self._owners) >= _MOST_SEEN:
                    self._owners.clear()
                self._owners[repository.unique_identifier] = (began, seen)
        return record

    def seen_repository(self, repository: Repository) -> SeenRepository | None:
        """Give a repository's own record, which may be a second old, to be compared when used.

        None where the store cannot do that. Raises: as `fresh_repository`.
        """
        if self._compares is None:
            return None
        with self._lock:
            found = self._owners.get(repository.unique_identifier)
        if found is None or self._environment.monotonic() - found[0] >= SEEN_FOR_S:
            self.fresh_repository(repository)
            with self._lock:
                found = self._owners.get(repository.unique_identifier)
        return found[1] if found else None

    def _read(self, key: Hashable) -> BranchRead:
        place = cast("_Place", key)  # the only kind of key that fresh() asks for
        began = self._environment.monotonic()
        # The repository comes second: who closes it and then changes the branch may rely on it that
        # a later compare-and-swap is lost, or its writer has seen the closed repository.
        branch, owner = (find(self._store, *key) for key in _keys(place))
        return self._believed(place, began, branch, owner)

    def _believed(
        self, place: _Place, began: float, branch: Versioned | None, owner: Versioned | None
    ) -> BranchRead:
        """Decode what was read, remember it, and refuse what is not there.

        A busy branch is read thousands of times a second and is nearly always the same: then it is
        neither decoded nor remembered again, until what is remembered is a tenth as old as it may
        become.
        """
        with self._lock:
            known = self._seen.get(place)
        if (
            known is not None
            and branch is not None
            and owner is not None
            and branch.predicate == known[1].predicate
            and owner.value == known[2]
            and began - known[0] < SEEN_FOR_S / 10
        ):
            return known[1]
        repository = _active(owner, place.repository_id, place.unique_identifier)
        if branch is None:
            with self._lock:
                self._seen.pop(place, None)
            raise NotFound(
                f"no branch {place.branch!r} in {place.repository_id!r}", code="branch-not-found"
            )
        read = BranchRead(_decode_branch(branch.value), branch.predicate, repository)
        with self._lock:
            if len(self._seen) >= _MOST_SEEN:
                self._seen.clear()
            self._seen[place] = (began, read, owner.value if owner else b"")
        return read


@lru_cache(_MOST_SEEN)
def _keys(place: _Place) -> tuple[KvPlace, KvPlace]:
    """Name the records of a branch and of its repository."""
    partition = repository_partition(place.repository_id, place.unique_identifier)
    return (
        (partition, BRANCHES + place.branch.encode()),
        (GRAVELER, REPOSITORIES + place.repository_id.encode()),
    )


def _active(
    found: Versioned | None, repository_id: RepositoryId, unique_identifier: UniqueIdentifier
) -> Repository:
    """Decode a repository's record; refuse one that is not the caller's, or not active."""
    record = _decode_repository(found.value) if found else None
    if record is None or record.unique_identifier != unique_identifier:
        raise RepositoryNotFound(f"repository {repository_id!r} is gone")
    if record.repository_state is not RepositoryState.ACTIVE:
        raise RepositoryDeleting(f"repository {repository_id!r} is being deleted")
    return record


def _place(repository: Repository, name: BranchName) -> _Place:
    return _Place(repository.repository_id, repository.unique_identifier, name)
