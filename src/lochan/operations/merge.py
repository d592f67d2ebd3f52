# SPDX-License-Identifier: Apache-2.0
"""Merge a commit into a branch: three trees, one new commit with two parents.

The merge base comes from clocks, without walking history. Conflicts are settled by the strategy or
reported by their keys. What else a merge must see to is in `advance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lochan.committed.merge import Merged
from lochan.errors import Conflict, InvalidInput
from lochan.model.changes import Conflict as ConflictingKey
from lochan.model.ids import BranchName, MetaRangeId
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, Repository
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.lake import Lake
from lochan.operations.request import Candidate, Said, Tip
from lochan.refs.clock_index import ClockIndex
from lochan.refs.expired import require_kept

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

    def make(tip: Tip) -> Candidate:
        base = _merge_base(tip, name, source)
        if base.id == source.id and not request.allow_empty:
            raise InvalidInput(f"branch {name!r} holds {source.id} already", code="no-changes")
        tree = merged_tree(lake, repository, name, (base, tip.head, source), request.strategy)
        return Candidate(tree, None if request.squash else source)

    ClockIndex.of(lake.store, repository).require_published(source)
    require_kept(lake.store, repository, source.id)
    said = _said(lake, name, source, request)
    return advance(
        lake,
        repository,
        name,
        said,
        make,
        action=Action.MERGE,
        allow_dirty=request.allow_dirty,
    )


def merged_tree(
    lake: Lake,
    repository: Repository,
    name: BranchName,
    sides: tuple[Commit, Commit, Commit],
    strategy: str,
) -> MetaRangeId:
    """Merge the trees of (base, dest, source). Raises MergeConflict."""
    base, dest, source = (side.meta_range_id for side in sides)
    snapshots = lake.storage(repository.storage_namespace).snapshots
    merged = snapshots.merge(base, dest, source, strategy)
    if merged.id is None:
        raise MergeConflict(name, merged)
    return merged.id


def _merge_base(tip: Tip, name: BranchName, source: Commit) -> Commit:
    base = tip.kinship.merge_base(tip.head, source)
    if base is None:
        raise InvalidInput(f"{source.id} and branch {name!r} have no common ancestor")
    return base


def _said(lake: Lake, name: BranchName, source: Commit, request: MergeRequest) -> Said:
    message = request.message or f"Merge '{source.id}' into '{name}'"
    metadata = {**request.metadata, STRATEGY_KEY: request.strategy or "default"}
    return Said(request.committer, message, metadata, from_seconds(lake.environment.now()))
