# SPDX-License-Identifier: Apache-2.0
"""Where everything lies in the key-value store: partitions, prefixes, keys.

    partition                      key                                value
    graveler                       repos/<repository>                 Repository
    <repository>-<unique id>       branches/<branch>                  Branch
                                   commits/<commit id>                Commit
                                   tags/<tag>                         Tag
                                   open/<id>                          OpenCommit
                                   clock/<lineage>/<n, 20 digits>     commit id
                                   reach/<L>/<X>/<n, inverted>/<id>   how far merge <id>, n-th of L,
                                                                      reached on line X
                                   merged/<L>/<n, inverted>/<id>      the lines that it reached,
                                                                      and those before it
                                   copies/<ms, 15 digits>/<id>        addresses that got a second
                                                                      entry at that time
                                   imports/<id>, tasks/DR<id>,        Task: work that goes on
                                   tasks/RR<id>, tasks/GC<id>,        behind an answer
                                   tasks/SR<id>
                                   settings/gc_rules                  GarbageCollectionRules
                                   repo-metadata                      RepositoryMetadata
                                   gc/lease, gc/condemned,            what collection remembers:
                                   gc/sweeping, gc/trash/<run>,       docs/formats/gc.md
                                   gc/expired/<commit id>, gc/idle/<branch>,
                                   gc/held/<id>
    <staging token>                key/<path>                         StagedEntry
    graveler_deleted               repo/<repository>/<unique id>      work for the cleaner
    cleanup-tokens                 <staging token>                    work for the cleaner
    auth                           iam/...                            users, groups, policies and
                                                                      what joins them: below
    pipelines                      specs/..., jobs/... and others     lochan.pipelines.model.records

Names of repositories, branches and tags never contain a slash, so that no prefix runs into another.
Those of users, groups and policies may: each is the last part of its key, behind a fixed prefix or
a unique identifier, which is hexadecimal.

    iam/users/<user>, iam/groups/<group>, iam/policies/<policy>    User, Group, Policy
    iam/user_groups/<user's unique id>/<group>                     Membership, to list by user
    iam/group_users/<group's unique id>/<user>                     Membership, the one that counts
    iam/user_policies/<user's unique id>/<policy>                  Attachment
    iam/group_policies/<group's unique id>/<policy>                Attachment
    iam/user_credentials/<user's unique id>/<access key id>        Credential
    iam/credentials/<access key id>                                CredentialOwner
    iam/setup                                                      Setup
"""

from lochan.model.ids import CommitId, LineageId, RepositoryId, StagingToken, UniqueIdentifier
from lochan.model.records import Repository

GRAVELER = b"graveler"
DELETED = b"graveler_deleted"
CLEANUP = b"cleanup-tokens"
AUTH = b"auth"

REPOSITORIES = b"repos/"
BRANCHES = b"branches/"
COMMITS = b"commits/"
TAGS = b"tags/"
OPEN = b"open/"
CLOCKS = b"clock/"
REACH = b"reach/"
MERGED = b"merged/"
COPIES = b"copies/"
IMPORTS = b"imports/"
TASKS = b"tasks/"
SETTINGS = b"settings/"
REPOSITORY_METADATA = b"repo-metadata"
GC = b"gc/"
GC_EXPIRED = b"gc/expired/"
GC_HELD = b"gc/held/"
GC_IDLE = b"gc/idle/"
GC_TRASH = b"gc/trash/"
STAGED = b"key/"

USERS = b"iam/users/"
GROUPS = b"iam/groups/"
POLICIES = b"iam/policies/"
USER_GROUPS = b"iam/user_groups/"
GROUP_USERS = b"iam/group_users/"
USER_POLICIES = b"iam/user_policies/"
GROUP_POLICIES = b"iam/group_policies/"
USER_CREDENTIALS = b"iam/user_credentials/"
CREDENTIALS = b"iam/credentials/"
SETUP = b"iam/setup"

LARGEST_PLACE = 10**20 - 1


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


def belonging_to(owner: UniqueIdentifier, name: str = "") -> bytes:
    """Name what belongs to a user or group, under a prefix; without a name, where all of it is."""
    return f"{owner}/{name}".encode()


def clock_key(lineage: LineageId, number: int) -> bytes:
    """Name the place of a commit on its line; zero-padded, so that bytes sort like numbers."""
    return CLOCKS + f"{lineage}/{number:020d}".encode()


def reach_key(lineage: LineageId, foreign: LineageId, number: int, merge: CommitId | str) -> bytes:
    """Name what a merge at a place of `lineage` reached on another line; latest places sort first.

    With an empty `merge` it is where a scan begins that looks for the latest place up to `number`.
    """
    return REACH + f"{lineage}/{foreign}/{inverted(number)}/{merge}".encode()


def merged_key(lineage: LineageId, number: int, merge: CommitId | str) -> bytes:
    """Name the list of lines reached by a merge at a place of `lineage`; latest places first."""
    return MERGED + f"{lineage}/{inverted(number)}/{merge}".encode()


def copies_key(milliseconds: int, unique_id: str) -> bytes:
    """Name a row of the copy log; earlier ones sort first."""
    return COPIES + f"{milliseconds:015d}/{unique_id}".encode()


def inverted(number: int) -> str:
    """Write a place so that greater ones sort first."""
    return f"{LARGEST_PLACE - number:020d}"


def place_and_merge(key: bytes) -> tuple[int, CommitId]:
    """Read the last two parts of a reach or merged key: the place, and the merge's id."""
    _, place, merge = key.decode().rsplit("/", 2)
    return LARGEST_PLACE - int(place), CommitId(merge)
