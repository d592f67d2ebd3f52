# SPDX-License-Identifier: Apache-2.0
"""Revert and cherry-pick: take a commit's changes away from a branch, or bring them to it.

Both are three-way merges without history. The commit R and its parent P say what changed:

    revert        base R, source P: whatever R did and nobody has changed since is undone
    cherry-pick   base P, source R: whatever R did is done here too

A merge commit has several parents, so the caller must say which of them R is compared with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lochan.errors import InvalidInput
from lochan.model.ids import BranchName
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, Repository
from lochan.operations.advance import advance
from lochan.operations.allowed import Action
from lochan.operations.lake import Lake
from lochan.operations.merge import merged_tree
from lochan.operations.request import Candidate, Said, Tip
from lochan.refs.expired import require_kept


@dataclass(frozen=True, slots=True)
class TransplantRequest:
    """What a person says. `parent_number` counts from 1; 0 is the only parent there is."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    parent_number: int = 0
    strategy: str = ""
    allow_empty: bool = False


def revert(
    lake: Lake, repository: Repository, name: BranchName, undone: Commit, request: TransplantRequest
) -> Commit:
    """Undo a commit's changes on a branch. Raises MergeConflict, InvalidInput."""
    parent = _parent(lake, repository, undone, request.parent_number)
    message = request.message or f"Revert {undone.id}"
    said = _said(lake, request, message, request.metadata)
    return _apply(lake, repository, name, (undone, parent), said, request, Action.REVERT)


def cherry_pick(
    lake: Lake, repository: Repository, name: BranchName, picked: Commit, request: TransplantRequest
) -> Commit:
    """Do a commit's changes again on a branch. Raises MergeConflict, InvalidInput."""
    parent = _parent(lake, repository, picked, request.parent_number)
    origin = {"cherry-pick-origin": picked.id, "cherry-pick-committer": picked.committer}
    metadata = {**picked.metadata, **request.metadata, **origin}
    said = _said(lake, request, request.message or picked.message, metadata)
    return _apply(lake, repository, name, (parent, picked), said, request, Action.CHERRY_PICK)


def _apply(
    lake: Lake,
    repository: Repository,
    name: BranchName,
    change: tuple[Commit, Commit],
    said: Said,
    request: TransplantRequest,
    action: Action,
) -> Commit:
    base, source = change
    require_kept(lake.store, repository, source.id)  # whose rows the branch gets

    def make(tip: Tip) -> Candidate:
        sides = (base, tip.head, source)
        tree = merged_tree(lake, repository, name, sides, request.strategy)
        if tree == tip.head.meta_range_id and not request.allow_empty:
            raise InvalidInput(f"branch {name!r} would not change", code="no-changes")
        return Candidate(tree)

    return advance(lake, repository, name, said, make, action=action)


def _said(
    lake: Lake, request: TransplantRequest, message: str, metadata: Mapping[str, str]
) -> Said:
    return Said(request.committer, message, metadata, from_seconds(lake.environment.now()))


def _parent(lake: Lake, repository: Repository, commit: Commit, number: int) -> Commit:
    """Give the parent that a commit's changes are counted from."""
    parents = commit.parents
    if not parents:
        raise InvalidInput(f"commit {commit.id} is the first one; it has no parent to compare with")
    if number == 0 and len(parents) > 1:
        raise InvalidInput(
            f"commit {commit.id} is a merge; say which of its {len(parents)} parents to keep",
            code="parent-needed",
        )
    if not 0 <= number <= len(parents):
        raise InvalidInput(f"commit {commit.id} has {len(parents)} parents, not {number}")
    named = parents[max(0, number - 1)]
    return lake.tables(repository).commits.get(named.encode()).record
