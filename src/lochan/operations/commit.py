# SPDX-License-Identifier: Apache-2.0
"""Commit what is staged on a branch, without locks: seed 004, repaired. `move` is how.

A tree that exists already, such as one that a Spark job wrote, can be committed as it is. Then the
branch must be clean, and the tree is read whole before; of its objects those are looked for that
collection may have taken, or is about to take.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lochan.errors import InvalidInput, NotFound
from lochan.model.ids import BranchName, MetaRangeId
from lochan.model.instant import Instant, from_seconds
from lochan.model.records import Commit, Repository
from lochan.operations.advance import advance
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.gc.tree_objects import require_objects
from lochan.operations.lake import Lake
from lochan.operations.move import move
from lochan.operations.request import Candidate, Request, Said, Tip


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """What a committer says; without a date it is now."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allow_empty: bool = False
    creation_date: Instant | None = None


def commit(lake: Lake, repository: Repository, name: BranchName, request: CommitRequest) -> Commit:
    """Commit everything that was staged before the call (G6).

    Raises: InvalidInput (code no-changes) when nothing differs; NotFound; Refused; Conflict when
    others always came first, which leaves everything staged.
    """
    began = lake.branches.fresh(repository, name)
    said = _said(lake, request)
    wanted = Request(said, began, allow_empty=request.allow_empty, force=lake.force)
    return move(lake, repository, name, wanted)


def commit_tree(
    lake: Lake, repository: Repository, name: BranchName, tree: MetaRangeId, request: CommitRequest
) -> Commit:
    """Commit a tree that lies in the repository's storage, instead of what is staged.

    Raises: InvalidInput, code dirty-branch, no-changes or no-such-tree; ObjectExpired; Corruption
    for a damaged tree; NotFound; Refused; Conflict when others always came first.
    """
    began = lake.branches.fresh(repository, name)
    require_allowed(began.repository, name, Action.COMMIT, force=lake.force)
    try:
        lake.storage(repository.storage_namespace).snapshots.verify(tree)
    except NotFound as error:
        message = f"metarange {tree} or a range of it is not in the storage of this repository"
        raise InvalidInput(message, code="no-such-tree", meta_range_id=tree) from error
    shown = lake.commits.tree(repository, began.record.commit_id)
    require_objects(lake, repository, tree, shown)

    def make(tip: Tip) -> Candidate:
        if tree == tip.head.meta_range_id and not request.allow_empty:
            raise InvalidInput(f"branch {name!r} would not change", code="no-changes")
        return Candidate(tree)

    return advance(lake, repository, name, _said(lake, request), make, action=Action.COMMIT)


def _said(lake: Lake, request: CommitRequest) -> Said:
    date = request.creation_date
    now = from_seconds(lake.environment.now()) if date is None else date
    return Said(request.committer, request.message, request.metadata, now)
