# SPDX-License-Identifier: Apache-2.0
"""Bring the content of commits to a branch, without their history: by replay or by squash.

    replay   each commit that the target lacks is copied, in order, as a commit of its own
    squash   one commit holds what all sources did, put beside each other

Either way nothing is seen before one compare-and-swap shows all of it (M7). What the target has
behind it already is not brought again (M4), and where that is everything, nothing happens (M9).

Files are put together block by block: appends of several sources follow each other in the order of
the sources, and a deletion is of what the target holds, not of what the others append (M5). Blocks
that a source took away, by a revert or in a merge, go from the target, and do not come by another
source that has them from the same commit. User metadata and content type come along where a source
has changed them, the last source's where several did. `three_way` has the rules for one file. There
are no conflicts, but a path cannot be a file and a directory.
"""

from collections.abc import Mapping, Sequence

from lochan.errors import InvalidInput, NotUnique
from lochan.model.instant import from_seconds
from lochan.model.records import Commit, Repository, Slot
from lochan.operations.allowed import Action
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import finished_commit
from lochan.operations.open_commits.file_tree import FileTrees
from lochan.operations.open_commits.land import Grow, Growth, begin, land
from lochan.operations.open_commits.provenance import in_order
from lochan.operations.open_commits.replay import replay
from lochan.operations.open_commits.slot import Target, branch_taken, find_target, slot_taken
from lochan.operations.open_commits.squash import squashed
from lochan.operations.request import Said
from lochan.refs.expired import require_kept


def merge_commits(  # noqa: PLR0913 - the seed's arguments, and what a person says
    lake: Lake,
    repository: Repository,
    from_commits: Sequence[str],
    parent: str | None = None,
    branch: str | None = None,
    *,
    squash: bool = False,
    committer: str = "",
    message: str = "",
    metadata: Mapping[str, str] | None = None,
) -> tuple[Commit, ...]:
    """Merge finished commits into the place that `parent` and `branch` name, as in start_commit.

    Gives the commits that were made, which are finished; none if all was there. `message` and
    `metadata` are a squash's own; copies keep theirs.
    Raises: InvalidInput without target or sources; NotFound; Conflict, code commit-not-finished,
    slot-taken, file-and-directory; Refused; UnknownOutcome.
    """
    if parent is None and branch is None:
        raise InvalidInput("say where to merge: a parent, a branch, or both", code="target-needed")
    if not from_commits:
        raise InvalidInput("say what to merge: at least one commit", code="source-needed")
    sources = [finished_commit(lake, repository, name) for name in from_commits]
    require_kept(lake.store, repository, *(source.id for source in sources))
    target = find_target(lake, repository, parent, branch)
    now = from_seconds(lake.environment.now())
    trees = FileTrees(lake, repository, now)
    said = Said(
        committer,
        message or f"Squash {', '.join(from_commits)} into {target.branch}",
        metadata or {},
        now,
        started=now,
        finished=now,
        provenance=in_order(lake, (each for source in sources for each in source.provenance)),
    )
    made: list[Commit] = []

    def grow(growth: Growth) -> None:
        made.clear()
        _require_slot(target, growth.head)
        if squash:
            made.extend(squashed(trees, growth, sources, said))
        else:
            made.extend(replay(trees, growth, sources, committer))

    _land(lake, repository, target, grow)
    return tuple(made)


def _land(lake: Lake, repository: Repository, target: Target, grow: Grow) -> None:
    if target.slot is not Slot.BEGINS:
        land(lake, repository, target.branch, Action.MERGE, grow)
        return
    try:
        begin(lake, repository, target.branch, target.parent, Action.MERGE, grow)
    except NotUnique as error:
        raise branch_taken(target.branch) from error


def _require_slot(target: Target, head: Commit | None) -> None:
    parent = target.parent
    if (
        target.slot is Slot.CONTINUES
        and parent is not None
        and (head is None or head.id != parent.id)
    ):
        raise slot_taken(parent.id, target.branch)
