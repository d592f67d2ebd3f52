# SPDX-License-Identifier: Apache-2.0
"""The tree of a commit, remembered: every read of a branch asks for its head's.

A commit's id hashes its tree, so what was once read stays true and needs no fresh look. The rest of
a record is not kept here: a restore fills generation and clocks in afterwards. Trees are kept by
the repository's unique identifier, since a later repository of the same name may lack the commit.
"""

from lochan.kv.store import Store
from lochan.model.ids import CommitId, MetaRangeId, UniqueIdentifier
from lochan.model.records import Repository
from lochan.refs.tables import RepositoryTables

MOST_KEPT = 10_000  # commits; about two megabytes


class CommitReads:
    """Reads of commits' trees, shared by all stories of a process. Any thread may ask."""

    def __init__(self, store: Store, most: int = MOST_KEPT) -> None:
        """Read from this store and keep at most so many."""
        self._store = store
        self._most = most
        self._trees: dict[tuple[UniqueIdentifier, CommitId], MetaRangeId] = {}

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
