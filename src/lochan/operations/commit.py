# SPDX-License-Identifier: Apache-2.0
"""Commit what is staged on a branch, without locks: seed 004, repaired. `move` is how."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lochan.model.ids import BranchName
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, Repository
from lochan.operations.lake import Lake
from lochan.operations.move import move
from lochan.operations.request import Request, Said


@dataclass(frozen=True, slots=True)
class CommitRequest:
    """What a committer says."""

    committer: str
    message: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    allow_empty: bool = False


def commit(lake: Lake, repository: Repository, name: BranchName, request: CommitRequest) -> Commit:
    """Commit everything that was staged before the call (G6).

    Raises: InvalidInput (code no-changes) when nothing differs; NotFound; Refused; Conflict when
    others always came first, which leaves everything staged.
    """
    now = from_seconds(lake.environment.now())
    said = Said(request.committer, request.message, request.metadata, now)
    began = lake.branches.fresh(repository, name)
    wanted = Request(said, began, allow_empty=request.allow_empty, force=lake.force)
    return move(lake, repository, name, wanted)
