# SPDX-License-Identifier: Apache-2.0
"""What is remembered of commits: their trees, and which were seen published a moment ago.

Every read of a branch asks for its head's tree. A commit's id hashes its tree, so what was once
read stays true and needs no fresh look. The rest of a record is not kept: a restore fills
generation and clocks in afterwards. That a commit was published is believed for a second, so that
many branches can be made of one without asking each time. All is kept by the repository's unique
identifier, since a later repository of the same name may lack the commit.
"""

from lochan.environment import Environment
from lochan.kv.store import Store
from lochan.model.ids import CommitId, MetaRangeId, UniqueIdentifier
from lochan.model.records import Repository
from lochan.refs.clock_index import ClockIndex
from lochan.refs.expired import require_kept
from lochan.refs.tables import RepositoryTables

MOST_KEPT = 10_000  # commits; about two megabytes
BELIEVED_FOR_S = 1.0


_Place = tuple[UniqueIdentifier, CommitId]


class CommitReads:
    """Reads of commits' trees, shared by all stories of a process. Any thread may ask."""

    def __init__(self, store: Store, environment: Environment, most: int = MOST_KEPT) -> None:
        """Read from this store and keep at most so many."""
        self._store = store
        self._environment = environment
        self._most = most
        self._trees: dict[_Place, MetaRangeId] = {}
        self._published: dict[_Place, float] = {}

    def tree(self, repository: Repository, commit: CommitId) -> MetaRangeId:
        """Name the tree of a commit. Raises NotFound."""
        place = (repository.unique_identifier, commit)
        found = self._trees.get(place)
        if found is not None:
            return found
        record = RepositoryTables.of(self._store, repository).commits.get(commit.encode()).record
        if len(self._trees) >= self._most:
            self._trees.clear()
        self._trees[place] = record.meta_range_id
        return record.meta_range_id

    def recall_tree(self, repository: Repository, commit: CommitId) -> MetaRangeId | None:
        """Name the tree of a commit that was asked for before."""
        return self._trees.get((repository.unique_identifier, commit))

    def require_published(self, repository: Repository, commit: CommitId) -> None:
        """Refuse a commit that no branch was ever moved to: a crashed attempt leaves such records.

        And one whose objects may be gone. Raises: NotFound; Conflict, code never-published; Gone.
        """
        place, now = (repository.unique_identifier, commit), self._environment.monotonic()
        if now - self._published.get(place, -BELIEVED_FOR_S) < BELIEVED_FOR_S:
            return
        record = RepositoryTables.of(self._store, repository).commits.get(commit.encode()).record
        ClockIndex.of(self._store, repository).require_published(record)
        require_kept(self._store, repository, commit)
        if len(self._published) >= self._most:
            self._published.clear()
        self._published[place] = now
