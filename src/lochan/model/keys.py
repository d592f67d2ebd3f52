# SPDX-License-Identifier: Apache-2.0
"""Where everything lies in the key-value store: partitions, prefixes, keys.

    partition                      key                                value
    graveler                       repos/<repository>                 Repository
    <repository>-<unique id>       branches/<branch>                  Branch
                                   commits/<commit id>                Commit
                                   tags/<tag>                         Tag
                                   clock/<lineage>/<n, 20 digits>     commit id
    <staging token>                key/<path>                         StagedEntry
    graveler_deleted               repo/<repository>/<unique id>      work for the cleaner
    cleanup-tokens                 <staging token>                    work for the cleaner

Names that people choose never contain a slash, so that no prefix runs into another.
"""

from lochan.model.ids import LineageId, RepositoryId, StagingToken, UniqueIdentifier
from lochan.model.records import Repository

GRAVELER = b"graveler"
DELETED = b"graveler_deleted"
CLEANUP = b"cleanup-tokens"

REPOSITORIES = b"repos/"
BRANCHES = b"branches/"
COMMITS = b"commits/"
TAGS = b"tags/"
CLOCKS = b"clock/"
STAGED = b"key/"


def repository_partition(repository_id: RepositoryId, unique_identifier: UniqueIdentifier) -> bytes:
    """Name the partition of one incarnation of a repository."""
    return f"{repository_id}-{unique_identifier}".encode()


def partition_of(repository: Repository) -> bytes:
    """Name the partition of what belongs to a repository."""
    return repository_partition(repository.repository_id, repository.unique_identifier)


def deleted_key(repository: Repository) -> bytes:
    """Name the cleaner's note about a deleted incarnation."""
    return f"repo/{repository.repository_id}/{repository.unique_identifier}".encode()


def token_partition(token: StagingToken) -> bytes:
    """Name the partition of what is staged under a token."""
    return token.encode()


def clock_key(lineage: LineageId, number: int) -> bytes:
    """Name the place of a commit on its line; zero-padded, so that bytes sort like numbers."""
    return CLOCKS + f"{lineage}/{number:020d}".encode()
