# SPDX-License-Identifier: Apache-2.0
"""Start a commit: one record, with a private staging token that nobody else writes to.

Nothing else is touched: the branch is made, or moved, when the commit is finished. A caller that
dies leaves a record that nobody meets.
"""

from collections.abc import Sequence

from lochan.model.ids import CommitId, OpenCommitId, new_staging_token
from lochan.model.instant import from_seconds
from lochan.model.records import OpenCommit, Provenance, Repository
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.lake import Lake
from lochan.operations.open_commits.provenance import require_finished
from lochan.operations.open_commits.slot import find_target
from lochan.refs.open_commits import open_commits
from lochan.refs.outcomes import surely


def start_commit(
    lake: Lake,
    repository: Repository,
    parent: str | None = None,
    branch: str | None = None,
    *,
    committer: str = "",
    provenance: Sequence[Provenance] = (),
) -> OpenCommit:
    """Start a commit behind `parent`, on `branch`; `slot` has the table of what they mean.

    Raises: NotFound; InvalidInput for a parent of another repository, or for provenance that is not
    finished; Conflict, code slot-taken or commit-not-finished; Refused.
    """
    target = find_target(lake, repository, parent, branch)
    current = lake.branches.fresh_repository(repository)
    require_allowed(current, target.branch, Action.COMMIT, force=lake.force)
    require_finished(lake, provenance)
    draw = lake.environment.new_id
    opened = OpenCommit(
        id=OpenCommitId(draw()),
        branch=target.branch,
        started=from_seconds(lake.environment.now()),
        staging_token=new_staging_token(repository.repository_id, target.branch, draw()),
        parent=target.parent.id if target.parent else CommitId(""),
        slot=target.slot,
        committer=committer,
        provenance=tuple(provenance),
    )
    table = open_commits(lake.store, repository)
    surely(lambda: table.set(opened.id.encode(), opened))
    return opened
