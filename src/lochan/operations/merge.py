# SPDX-License-Identifier: Apache-2.0
"""Merge a commit into a branch: three trees, one new commit with two parents.

1. the destination must be clean when the merge begins; what is staged later stays staged
2. sealed tokens are proved to change nothing, and go in the same compare-and-swap; those that
   hold data belong to a commit under way, which is finished first (H7)
3. merge base by clocks, merge of the trees, conflicts settled by the strategy or reported
4. publish: parents are the head that was merged into, then the source; again if the head moved
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lochan.committed.merge import Merged
from lochan.errors import Conflict, InvalidInput
from lochan.kernel.records import Record
from lochan.kv.table import Stored
from lochan.model.changes import Conflict as ConflictingKey
from lochan.model.ids import BranchName
from lochan.model.instant import from_seconds
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.commit import CommitRequest, commit_tokens
from lochan.operations.lake import Lake
from lochan.operations.publish import Candidate, Said, publish
from lochan.operations.view import committed_tree, tokens_of
from lochan.refs.kinship import Kinship
from lochan.staging.fold import folded
from lochan.staging.sealed import Tokens

ATTEMPTS = 100
STRATEGY_KEY = ".lakefs.merge.strategy"  # lakeFS's name, so that its clients find it


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """What a merger says. `squash` brings content without history."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    strategy: str = ""
    squash: bool = False
    allow_empty: bool = False
    allow_dirty: bool = False


class MergeConflict(Conflict):
    """Both sides changed the same keys; `keys` describes the first thousand of them."""

    default_code = "merge-conflict"

    def __init__(self, name: BranchName, merged: Merged) -> None:
        """Say how many keys conflict, and name the first."""
        first = merged.conflicts[0].key.decode(errors="replace")
        super().__init__(
            f"{merged.conflict_count} objects were changed on both sides of the merge into"
            f" {name!r}, the first is {first!r}; choose a strategy or settle them by hand",
            count=merged.conflict_count,
        )
        self.keys: tuple[ConflictingKey, ...] = merged.conflicts


def merge(
    lake: Lake, repository: Repository, name: BranchName, source: Commit, request: MergeRequest
) -> Commit:
    """Merge a commit into a branch.

    Raises: InvalidInput for a dirty destination or where there is nothing to merge; MergeConflict.
    """
    said = _said(lake, name, source, request)
    if not request.allow_dirty:
        _require_clean(lake, repository, lake.branches.fresh(repository, name).record)
    for _ in range(ATTEMPTS):
        stored = lake.branches.fresh(repository, name)
        if not _sealed_changes_nothing(lake, repository, stored.record):
            _finish_commit(lake, repository, name, stored.record.sealed_tokens)
            continue
        candidate = _merged(lake, repository, stored, source, request)
        made = publish(lake, repository, stored, candidate, said)
        if made is not None:
            return made
    raise Conflict(f"branch {name!r} was changed by others {ATTEMPTS} times; merge again")


def _said(lake: Lake, name: BranchName, source: Commit, request: MergeRequest) -> Said:
    message = request.message or f"Merge '{source.id}' into '{name}'"
    metadata = {**request.metadata, STRATEGY_KEY: request.strategy or "default"}
    return Said(request.committer, message, metadata, from_seconds(lake.environment.now()))


def _merged(
    lake: Lake,
    repository: Repository,
    stored: Stored[Branch],
    source: Commit,
    request: MergeRequest,
) -> Candidate:
    branch = stored.record
    head = lake.tables(repository).commits.get(branch.commit_id.encode()).record
    base = Kinship.of(lake.store, repository).merge_base(head, source)
    if base is None:
        raise InvalidInput(f"{source.id} and branch {branch.branch_id!r} have no common ancestor")
    if base.id == source.id and not request.allow_empty:
        raise InvalidInput(
            f"branch {branch.branch_id!r} holds {source.id} already", code="no-changes"
        )
    snapshots = lake.storage(repository.storage_namespace).snapshots
    merged = snapshots.merge(
        base.meta_range_id, head.meta_range_id, source.meta_range_id, request.strategy
    )
    if merged.id is None:
        raise MergeConflict(branch.branch_id, merged)
    return Candidate(merged.id, branch.sealed_tokens, (), source=None if request.squash else source)


def _require_clean(lake: Lake, repository: Repository, branch: Branch) -> None:
    if _changes_something(lake, repository, branch, tokens_of(branch)):
        raise InvalidInput(
            f"branch {branch.branch_id!r} has uncommitted changes; commit or reset them first",
            code="dirty-branch",
        )


def _sealed_changes_nothing(lake: Lake, repository: Repository, branch: Branch) -> bool:
    return not _changes_something(lake, repository, branch, branch.sealed_tokens)


def _changes_something(lake: Lake, repository: Repository, branch: Branch, tokens: Tokens) -> bool:
    """Say whether any staged row differs from what is committed. Raises when a scan fails (H9)."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    tree = committed_tree(lake, repository, branch)
    for row in folded(lake.staging, tokens):
        if _identity(snapshots.get(tree, row.key)) != row.identity:
            return True
    return False


def _identity(record: Record | None) -> bytes:
    return b"" if record is None else record.identity


def _finish_commit(lake: Lake, repository: Repository, name: BranchName, tokens: Tokens) -> None:
    """Help a commit that has sealed its tokens and not come to its end."""
    commit_tokens(lake, repository, name, tokens, CommitRequest("", "", allow_empty=True))
