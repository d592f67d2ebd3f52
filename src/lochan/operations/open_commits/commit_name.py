# SPDX-License-Identifier: Apache-2.0
"""The two names of a commit: its hash, and the seed's repo/branch/int.

The number is the branch's own, and stays what it was for as long as the branch exists
(`lochan.model.clock`). A commit of a branch that was deleted has its hash alone.
"""

from dataclasses import dataclass

from lochan.errors import Conflict, InvalidInput
from lochan.model.clock import CommitNumber, own, parse_commit_number
from lochan.model.ids import BranchName, LineageId
from lochan.model.records import Commit, OpenCommit, Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.published import find_published
from lochan.operations.reference import commit_of
from lochan.refs.branches import list_branches
from lochan.refs.clock_index import ClockIndex
from lochan.refs.open_commits import find_open_commit, state_of

_SLASHES = 2  # in repo/branch/int


def finished_commit(lake: Lake, repository: Repository, name: str) -> Commit:
    """Find a published commit by either name, or by any other ref.

    Raises: NotFound; InvalidInput for a commit of another repository; Conflict for one that is
    open, or that lost its race and was never published.
    """
    found = any_commit(lake, repository, name)
    if isinstance(found, OpenCommit):
        message = f"commit {name} is {state_of(found)}; it must be finished first"
        raise Conflict(message, code="commit-not-finished", open_commit=found.id)
    ClockIndex.of(lake.store, repository).require_published(found)
    return found


def any_commit(lake: Lake, repository: Repository, name: str) -> Commit | OpenCommit:
    """Find a commit by a name of either kind, or an open one by its id.

    An open commit's id goes on naming the commit that came of it, while its record is kept; also
    where that does not say so yet.
    """
    opened = find_open_commit(lake.store, repository, name) if name else None
    if opened is None:
        return commit_of(lake, repository, _local_ref(repository, name))
    return find_published(lake, repository, opened.record) or opened.record


def _local_ref(repository: Repository, name: str) -> str:
    if name.count("/") != _SLASHES:
        return name
    number = parse_commit_number(name)
    if number.repository != repository.repository_id:
        message = f"commit {name} is of another repository than {repository.repository_id!r}"
        raise InvalidInput(message, code="other-repository", commit=name)
    return f"{number.branch}/{number.number}"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Which branch numbers which lines, as the branches stood when this was read."""

    repository: Repository
    lines: dict[LineageId, tuple[BranchName, int]]

    @classmethod
    def of(cls, lake: Lake, repository: Repository) -> "Numbers":
        """Read the branches, by one scan."""
        found = {
            ordinal.lineage: (branch.branch_id, ordinal.first)
            for branch in list_branches(lake.tables(repository), hidden=True)
            for ordinal in branch.ordinals
            if ordinal.lineage
        }
        return cls(repository, found)

    def name(self, commit: Commit) -> str:
        """Give repo/branch/int; the hash where no branch numbers the commit."""
        line, place = own(commit)
        if line not in self.lines:
            return commit.id
        branch, first = self.lines[line]
        return str(CommitNumber(self.repository.repository_id, branch, first + place))
