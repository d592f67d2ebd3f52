# SPDX-License-Identifier: Apache-2.0
"""Commit what is staged on a branch, without locks: seed 004, repaired by H1, H6, H10 and H15.

    1. seal             CAS 1: the staging token joins the sealed ones
    2. build            sealed tokens, newest row of a key first, applied to the head's tree
    3. validate         the tokens were all sealed, and the head was the base, until after the scan:
                        only then is the tree what it says. Else build again on what is left
    4. publish          commit record, clean-up notes, then CAS 2: the head moves and our tokens go

When CAS 2 is lost the branch tells why. Later seals: try again. An earlier commit took the older of
our tokens: the validated tree holds theirs and ours, so only the record is made again, on the new
head. A later commit took them all: the data is committed, and an empty commit carries our message.
The head was moved otherwise: build again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from lochan.errors import Conflict, InvalidInput
from lochan.kv.table import Stored
from lochan.model.ids import BranchName, CommitId, MetaRangeId
from lochan.model.instant import from_seconds
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.publish import Candidate, Said, publish, swap
from lochan.operations.seal import seal
from lochan.operations.view import committed_tree
from lochan.staging.fold import changes, folded
from lochan.staging.sealed import Overlap, Tokens, trim

ATTEMPTS = 100  # at most n for n concurrent commits (G10)


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """What a committer says."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allow_empty: bool = False


@dataclass(frozen=True, slots=True)
class _Tree:
    """A validated tree: `base` with all of `tokens` applied."""

    id: MetaRangeId
    base: CommitId
    tokens: Tokens


def commit(lake: Lake, repository: Repository, name: BranchName, request: CommitRequest) -> Commit:
    """Commit everything that was staged before the call (G6).

    Raises: InvalidInput (code no-changes) when nothing differs; NotFound; Conflict when others
    always came first, which leaves everything staged.
    """
    mine = seal(lake, repository, name).sealed_tokens
    return commit_tokens(lake, repository, name, mine, request)


def commit_tokens(
    lake: Lake, repository: Repository, name: BranchName, mine: Tokens, request: CommitRequest
) -> Commit:
    """Commit sealed tokens, newest first: the rest of a commit, begun by us or by somebody else."""
    said = _said(lake, request)
    tree: _Tree | None = None
    others_helped = False
    for _ in range(ATTEMPTS):
        stored = lake.branches.fresh(repository, name)
        found = trim(mine, stored.record.sealed_tokens)
        others_helped |= found.overlap is Overlap.EARLIER
        if found.overlap is Overlap.LATER:
            return _after_others(lake, repository, name, request, said)
        if tree is None or not _still_holds(tree, stored.record, found.overlap):
            mine = found.left
            tree = _build(lake, repository, name, stored.record, mine)
            continue
        candidate = Candidate(tree.id, found.left, found.newer)
        if not request.allow_empty and tree.id == committed_tree(lake, repository, stored.record):
            _clear(lake, repository, stored, candidate)
            if others_helped:  # they committed what differed
                return _after_others(lake, repository, name, request, said)
            raise InvalidInput("nothing to commit: nothing staged differs", code="no-changes")
        made = publish(lake, repository, stored, candidate, said)
        if made is not None:
            return made
    raise Conflict(f"branch {name!r} was changed by others {ATTEMPTS} times; commit again")


def _said(lake: Lake, request: CommitRequest) -> Said:
    now = from_seconds(lake.environment.now())
    return Said(request.committer, request.message, request.metadata, now)


def _clear(
    lake: Lake, repository: Repository, stored: Stored[Branch], candidate: Candidate
) -> None:
    """Take sealed tokens away that change nothing, so that they do not gather (H11)."""
    if candidate.tokens:
        cleared = msgspec.structs.replace(stored.record, sealed_tokens=candidate.newer)
        swap(lake, repository, stored, cleared, candidate.tokens)


def _still_holds(tree: _Tree, branch: Branch, overlap: Overlap) -> bool:
    """Say whether a validated tree is what the branch would be with our tokens committed.

    Only commits of sealed tokens move a head while tokens stay sealed (H7). So where an earlier
    commit took some of ours, head and tokens moved together; where nobody did, the head must stand.
    """
    return overlap is Overlap.EARLIER or branch.commit_id == tree.base


def _build(
    lake: Lake, repository: Repository, name: BranchName, branch: Branch, tokens: Tokens
) -> _Tree | None:
    """Apply tokens to the head's tree; None unless both stood still until after the scan (H1)."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    base = committed_tree(lake, repository, branch)
    applied = snapshots.apply(base, changes(folded(lake.staging, tokens)))
    current = lake.branches.fresh(repository, name).record
    stood = (
        current.commit_id == branch.commit_id
        and trim(tokens, current.sealed_tokens).overlap is Overlap.NOBODY
    )
    return _Tree(applied.id, branch.commit_id, tokens) if stood else None


def _after_others(
    lake: Lake, repository: Repository, name: BranchName, request: CommitRequest, said: Said
) -> Commit:
    """A later commit took all our tokens: never an error that hides that the data is safe."""
    for _ in range(ATTEMPTS):
        stored = lake.branches.fresh(repository, name)
        if not request.message and not request.metadata:
            commits = lake.tables(repository).commits
            return commits.get(stored.record.commit_id.encode()).record
        tree = committed_tree(lake, repository, stored.record)
        nothing = Candidate(tree, (), stored.record.sealed_tokens)
        made = publish(lake, repository, stored, nothing, said)
        if made is not None:
            return made
    raise Conflict(f"branch {name!r} was changed by others {ATTEMPTS} times; commit again")
