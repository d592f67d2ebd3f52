# SPDX-License-Identifier: Apache-2.0
"""Where a new commit goes, from the parent and the branch that somebody named.

    parent   branch          the commit
    none     none            begins a fresh branch, named by a random id
    none     a new name      begins that branch
    none     an existing     follows the branch's head, whatever that is when it is published
    given    none            continues the parent's branch, if the parent is its head
    given    a new name      begins that branch, behind the parent
    given    an existing     continues that branch, if the parent is its head

"Continues" is a promise: right behind that parent, or not at all. It is looked at when the commit
is started and decided when it is published, by the branch's compare-and-swap. So of two that want
one place exactly one gets it, and the other is told; and nothing is taken that a crash could leave
taken (the seed's unique row of clocks would be).
"""

from typing import NamedTuple

from lochan.errors import Conflict
from lochan.model.clock import own
from lochan.model.ids import BranchName, CommitId, valid_branch_name
from lochan.model.records import Commit, Repository, Slot
from lochan.operations.lake import Lake
from lochan.operations.open_commits.commit_name import finished_commit
from lochan.refs.branches import list_branches
from lochan.refs.expired import require_kept


class Target(NamedTuple):
    """A branch, what is below the new commit as seen now, and how it goes there."""

    branch: BranchName
    parent: Commit | None
    slot: Slot


def find_target(
    lake: Lake, repository: Repository, parent: str | None, branch: str | None
) -> Target:
    """Say where a commit goes.

    Raises: NotFound, InvalidInput for the parent; Conflict, code slot-taken, where the parent is
    not the head that it must be.
    """
    behind = None if parent is None else finished_commit(lake, repository, parent)
    if behind is not None:
        require_kept(lake.store, repository, behind.id)
    if branch is None:
        if behind is None:
            return Target(BranchName(lake.environment.new_id()), None, Slot.BEGINS)
        return Target(_branch_of(lake, repository, behind), behind, Slot.CONTINUES)
    tables, name = lake.tables(repository), valid_branch_name(branch)
    found = tables.branches.find(name.encode())
    if found is None:
        return Target(name, behind, Slot.BEGINS)
    if behind is None:
        head = tables.commits.get(found.record.commit_id.encode()).record
        return Target(name, head, Slot.FOLLOWS)
    if found.record.commit_id != behind.id:
        raise slot_taken(behind.id, name)
    return Target(name, behind, Slot.CONTINUES)


def _branch_of(lake: Lake, repository: Repository, parent: Commit) -> BranchName:
    """Find the branch on whose line a commit is; it must be its head."""
    line = own(parent).branch
    for branch in list_branches(lake.tables(repository), hidden=True):
        if any(ordinal.lineage == line for ordinal in branch.ordinals):
            if branch.lineage == line and branch.commit_id == parent.id:
                return branch.branch_id
            raise slot_taken(parent.id, branch.branch_id)
    message = f"no branch goes on from {parent.id}; name one for the new commit"
    raise Conflict(message, code="slot-taken", parent=parent.id)


def slot_taken(parent: CommitId, branch: BranchName) -> Conflict:
    """Make the error for a commit that can no longer go right behind its parent."""
    message = (
        f"{parent} is not the head of branch {branch!r}; start from its head, or name a new branch"
    )
    return Conflict(message, code="slot-taken", parent=parent, branch=branch)


def branch_taken(branch: BranchName) -> Conflict:
    """Make the error for a commit that was to begin a branch which somebody else has made."""
    message = f"branch {branch!r} was made meanwhile; start a commit on it, or name another"
    return Conflict(message, code="slot-taken", branch=branch)
