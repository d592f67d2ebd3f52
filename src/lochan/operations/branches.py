# SPDX-License-Identifier: Apache-2.0
"""Create and delete branches."""

from lochan.errors import Conflict
from lochan.model.ids import BranchName, CommitId, new_staging_token
from lochan.model.records import Branch, Repository
from lochan.operations.lake import Lake
from lochan.operations.view import tokens_of
from lochan.refs import branches
from lochan.refs.clock_index import ClockIndex
from lochan.refs.notes import note_tokens

ATTEMPTS = 100


def create_branch(
    lake: Lake, repository: Repository, name: BranchName, head: CommitId, *, hidden: bool = False
) -> Branch:
    """Make a branch whose head is a commit; no object is copied.

    Raises: NotUnique, AlreadyExists for a tag or commit of this name, NotFound for the commit.
    """
    tables = lake.tables(repository)
    found = tables.commits.get(head.encode()).record
    # A crashed attempt leaves a commit record whose place in history belongs to another one.
    ClockIndex.of(lake.store, repository).require_published(found)
    token = new_staging_token(repository.repository_id, name, lake.environment.new_id())
    branch = Branch(branch_id=name, commit_id=head, staging_token=token, hidden=hidden)
    branches.create_branch(tables, branch)
    return branch


def delete_branch(lake: Lake, repository: Repository, name: BranchName) -> None:
    """Remove a branch with all that is staged on it; its commits stay.

    The tokens are noted first, and only a record that named them is removed (H10, H18): a branch
    of the same name that was made meanwhile shares no token with ours and is left alone. The head
    goes into the clock index before: nobody finds the tip of a line that has no owner.
    """
    tables = lake.tables(repository)
    stored = branches.get_branch(tables, name)
    seen = set(tokens_of(stored.record))
    for _ in range(ATTEMPTS):
        head = tables.commits.get(stored.record.commit_id.encode()).record
        ClockIndex.of(lake.store, repository).place(head)
        note_tokens(lake.store, lake.environment, repository, name, tokens_of(stored.record))
        try:
            branches.delete_branch(tables, stored)
        except Conflict:
            stored = branches.get_branch(tables, name)
            if seen.isdisjoint(tokens_of(stored.record)):
                raise Conflict(
                    f"branch {name!r} changed beyond recognition while it was deleted; look at it"
                ) from None
            seen.update(tokens_of(stored.record))
            continue
        return
    raise Conflict(f"branch {name!r} was changed by others {ATTEMPTS} times; delete it again")
