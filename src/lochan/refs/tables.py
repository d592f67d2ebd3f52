# SPDX-License-Identifier: Apache-2.0
"""The typed tables of repositories and of what belongs to one incarnation of a repository.

Names are text outside and UTF-8 bytes in keys. A repository's tables are bound to its unique
identifier, so that nothing read through them can belong to an earlier or later one of its name.
"""

from dataclasses import dataclass

from lochan.kv.store import Store
from lochan.kv.table import Table
from lochan.model import codec
from lochan.model.keys import BRANCHES, COMMITS, GRAVELER, REPOSITORIES, TAGS, partition_of
from lochan.model.records import Branch, Commit, Repository, Tag


def repositories(store: Store) -> Table[Repository]:
    """Give the table of all repositories, whatever their state."""
    return Table(store, GRAVELER, REPOSITORIES, codec.encode_repository, codec.decode_repository)


@dataclass(frozen=True, slots=True)
class RepositoryTables:
    """What belongs to one incarnation of a repository."""

    branches: Table[Branch]
    commits: Table[Commit]
    tags: Table[Tag]

    @classmethod
    def of(cls, store: Store, repository: Repository) -> "RepositoryTables":
        """Bind the tables to a repository."""
        partition = partition_of(repository)
        return cls(
            Table(store, partition, BRANCHES, codec.encode_branch, codec.decode_branch),
            Table(store, partition, COMMITS, codec.encode_commit, codec.decode_commit),
            Table(store, partition, TAGS, codec.encode_tag, codec.decode_tag),
        )
