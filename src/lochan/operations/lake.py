# SPDX-License-Identifier: Apache-2.0
"""What every story is given: the stores of a lake, and how to reach a repository's own."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from lochan.committed import Snapshots
from lochan.environment import Environment
from lochan.kv.store import Store
from lochan.model.ids import StorageNamespace
from lochan.model.records import Repository
from lochan.objects.address import AddressSource
from lochan.objects.store import ObjectStore
from lochan.operations.branch_reads import BranchReads
from lochan.operations.commit_reads import CommitReads
from lochan.operations.request import Request
from lochan.refs.tables import RepositoryTables
from lochan.staging.area import StagingArea
from lochan.turns import Turns


@dataclass(frozen=True, slots=True)
class Storage:
    """What lies in one storage namespace: objects, their addresses, committed snapshots."""

    objects: ObjectStore
    addresses: AddressSource
    snapshots: Snapshots


@dataclass(frozen=True, slots=True)
class Lake:
    """The services of a lake, joined once; stories only use them."""

    store: Store
    environment: Environment
    storage: Callable[[StorageNamespace], Storage]
    staging: StagingArea
    branches: BranchReads
    commits: CommitReads
    moves: Turns[Request]
    force: bool = False  # the caller insists: read-only repositories take its changes

    @classmethod
    def of(
        cls,
        store: Store,
        environment: Environment,
        storage: Callable[[StorageNamespace], Storage],
    ) -> "Lake":
        """Join a KV store and the storage of namespaces."""
        return cls(
            store,
            environment,
            storage,
            StagingArea(store),
            BranchReads(store, environment),
            CommitReads(store, environment),
            Turns(environment),
        )

    def tables(self, repository: Repository) -> RepositoryTables:
        """Give the typed records of a repository."""
        return RepositoryTables.of(self.store, repository)

    def forcing(self) -> "Lake":
        """Give the same lake to a caller that insists, as lakeFS's `force` does."""
        return replace(self, force=True)
