# SPDX-License-Identifier: Apache-2.0
"""What the key-value store holds about repositories, branches, tags, commits and staged writes.

Field names are the seeds', letter for letter, in Python, protobuf and JSON. Records never change; a
new state is a new record (`msgspec.structs.replace`). Times are instants (nanoseconds), absent
values are empty, never None.

`unknown` keeps what a newer program wrote into a record of this kind: fields that this program does
not know. They go back into the store unchanged when the record is rewritten.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

import msgspec

from lochan.model.ids import (
    BranchName,
    CommitId,
    LineageId,
    MetaRangeId,
    OpenCommitId,
    RepositoryId,
    StagingToken,
    StorageNamespace,
    TagName,
    UniqueIdentifier,
)
from lochan.model.instant import EPOCH, Instant

# Which formula gave a commit its id (docs/formats/records.md). 0 and 1 are lakeFS's.
LAKEFS_VERSIONS = frozenset({0, 1})
COMMIT_VERSION = 100


class RepositoryState(IntEnum):
    """Where a repository is in its life: initial -> active -> deleting."""

    ACTIVE = 0
    DELETING = 1
    INITIAL = 2


class BlockedAction(IntEnum):
    """What a protection rule forbids on a branch; lakeFS's two."""

    STAGING_WRITE = 0
    COMMIT = 1


class Clock(NamedTuple):
    """One component of a commit's clock: the `commit`-th commit, from 0, of one line of commits.

    Seed 002 calls the line `branch`. It is a lineage id, not a name: a branch that is deleted and
    made again, or reset, starts a new line, so no two commits ever have the same last component.
    """

    branch: LineageId
    commit: int


class Ordinal(NamedTuple):
    """Where a line's commits stand in a branch's own numbering: position 0 is number `first`."""

    lineage: LineageId
    first: int


class Forgotten(NamedTuple):
    """Keys that were reset, from `start` up to, not including, `stop`; None is no bound.

    What the token `newest` and all older ones of its branch hold for them is not shown.
    """

    start: bytes
    stop: bytes | None
    newest: StagingToken

    def covers(self, key: bytes) -> bool:
        """Say whether a key is one of them."""
        return self.start <= key and (self.stop is None or key < self.stop)


class ValueRecord(NamedTuple):
    """What a key stands for: the bytes, and the identity by which two of them are compared."""

    identity: bytes
    data: bytes


class BranchProtectionRule(msgspec.Struct, frozen=True):
    """What the branches whose names match a pattern refuse; `*` and `?` stand for any letters."""

    pattern: str
    blocked_actions: tuple[BlockedAction, ...] = tuple(BlockedAction)


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository; what belongs to it is in partition <repository_id>-<unique_identifier>.

    `branch_protection` lies here, and not under a key of its own, because every fresh read of a
    branch reads this record too: a rule binds from the moment at which it is stored. So does
    `branch_owners`, which pipeline alone publishes on a branch.
    """

    repository_id: RepositoryId
    storage_namespace: StorageNamespace
    default_branch: BranchName
    creation_date: Instant
    repository_state: RepositoryState = RepositoryState.ACTIVE
    unique_identifier: UniqueIdentifier = UniqueIdentifier("")
    read_only: bool = False
    storage_id: str = ""
    branch_protection: tuple[BranchProtectionRule, ...] = ()
    branch_owners: Mapping[BranchName, str] = msgspec.field(default_factory=dict)
    unknown: bytes = b""


class Branch(msgspec.Struct, frozen=True, kw_only=True):
    """A name that moves from commit to commit, and the staging tokens over its head.

    `sealed_tokens` is newest first. `lineage` is empty until the branch has a commit of its own
    since it was made or moved. `compacted_base_meta_range_id` is for a head whose staged changes
    were written out before they were committed (operations/compact.py).

    `resets` counts how often staged changes were forgotten, or the head moved, other than by a
    commit; and how often a job that publishes here was taken over. While it stands still, what
    tokens held that are no longer named is in the head or in the compacted base, unless it was
    forgotten. When it has changed, whatever was made of an earlier record is void, but for a tree
    that follows resets of keys (operations/staged_tree.py). A new branch begins at a number of its
    own, so a branch made again counts as changed. `resets_in_place` of them left the head where it
    was: what remains tells that the branch has come back to a commit, to whoever acts on its moves.

    `moves` counts how often the head went on to what was not staged here: a merge, an import. While
    both counts stand still, nothing comes to be under a token's rows but what writers staged.

    `forgotten` are keys that were reset while others stayed staged (staging/layers.py).
    """

    branch_id: BranchName
    commit_id: CommitId
    staging_token: StagingToken
    sealed_tokens: tuple[StagingToken, ...] = ()
    hidden: bool = False
    lineage: LineageId = LineageId("")
    ordinals: tuple[Ordinal, ...] = ()
    compacted_base_meta_range_id: MetaRangeId = MetaRangeId("")
    resets: int = 0
    moves: int = 0
    forgotten: tuple[Forgotten, ...] = ()
    resets_in_place: int = 0
    unknown: bytes = b""


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    """A name that stays with one commit."""

    tag_id: TagName
    commit_id: CommitId
    unknown: bytes = b""


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """One input of the work that made a commit, pinned to the commit that was read."""

    repository_id: RepositoryId
    commit_id: CommitId
    input: str = ""
    glob: str = ""
    meta_range_id: MetaRangeId = MetaRangeId("")


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """A tree with its history. `commit_id.new_commit` makes one, since `id` hashes the rest.

    `generation` is 1 + the largest of the parents'; it is not hashed. Of a commit restored from
    elsewhere, generation and clocks are filled in once; no other field ever changes.
    `provenance` names direct inputs only. `started` and `finished` are empty (EPOCH) unless the
    commit was made by start_commit and finish_commit.
    """

    id: CommitId
    committer: str
    message: str
    creation_date: Instant
    meta_range_id: MetaRangeId
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    parents: tuple[CommitId, ...] = ()
    version: int = COMMIT_VERSION
    generation: int = 1
    clocks: tuple[Clock, ...] = ()
    started: Instant = EPOCH
    finished: Instant = EPOCH
    provenance: tuple[Provenance, ...] = ()
    unknown: bytes = b""


class Slot(IntEnum):
    """Where an open commit goes when it is finished."""

    BEGINS = 0  # the first commit of a new branch, behind `parent` or behind nothing
    CONTINUES = 1  # right behind `parent`, or nowhere
    FOLLOWS = 2  # behind whatever the branch's head is by then


class OpenCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that was started and is not published yet; its files are under its own token.

        open        finished is empty
        finishing   finished is set; nothing more may be put
        published   commit_id is set, staging_token is empty
        failed      error is set, staging_token is empty

    `parent` is what its writer sees below its own files. `attempts` are the commits that somebody
    was about to publish for it: each is named here before the branch is asked, so if one was
    published, it is among them. Place and hash come with publication alone.
    """

    id: OpenCommitId
    branch: BranchName
    started: Instant
    staging_token: StagingToken
    parent: CommitId = CommitId("")
    slot: Slot = Slot.BEGINS
    committer: str = ""
    message: str = ""
    metadata: Mapping[str, str] = msgspec.field(default_factory=dict)
    finished: Instant = EPOCH
    provenance: tuple[Provenance, ...] = ()
    commit_id: CommitId = CommitId("")
    error: str = ""
    attempts: tuple[CommitId, ...] = ()
    unknown: bytes = b""


class StagedEntry(msgspec.Struct, frozen=True):
    """An uncommitted write of one key under a staging token; without identity it is a deletion.

    `mark` tells a conditional write from an equal one of somebody else.
    """

    key: bytes
    identity: bytes = b""
    data: bytes = b""
    mark: str = ""
    unknown: bytes = b""

    @property
    def is_tombstone(self) -> bool:
        """Say whether this write removes the key."""
        return not self.identity


class RangeData(msgspec.Struct, frozen=True):
    """What a metarange says about one range beside its id: bounds, size and number of rows."""

    min_key: bytes
    max_key: bytes
    estimated_size: int
    count: int
