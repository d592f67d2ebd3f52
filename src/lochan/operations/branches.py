# SPDX-License-Identifier: Apache-2.0
"""Create and delete branches.

A protected branch, and the repository's default branch, are not deleted; a read-only repository
neither gains nor loses one. A hidden branch is like any other, but listed only if asked for.

Creating one asks three records, the repository's, a tag's and the branch's. Where the store can
compare several with one write, that is one call: the repository's record is as it was last seen, or
nothing is stored and all is asked again, one by one.
"""

from lochan.errors import Conflict, Refused
from lochan.kv.table import Stored
from lochan.model.ids import BranchName, CommitId, new_staging_token
from lochan.model.records import Branch, Repository
from lochan.operations.allowed import Action, require_allowed, require_writable
from lochan.operations.branch_reads import BranchRead
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

    Raises: NotUnique, AlreadyExists for a tag or commit of this name, NotFound for the commit,
    Refused for a read-only repository.
    """
    seen = lake.branches.seen_repository(repository)
    if seen is None or seen.record.read_only:  # a refusal is always by a fresh record
        require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    lake.commits.require_published(repository, head)
    unique_id = lake.environment.new_id()
    branch = Branch(
        branch_id=name,
        commit_id=head,
        staging_token=new_staging_token(repository.repository_id, name, unique_id),
        hidden=hidden,
        resets=branches.first_resets(unique_id),
    )
    if seen is None:
        branches.create_branch(lake.tables(repository), branch)
    elif not branches.create_branch_at_once(seen.store, seen.tables, branch, seen.unchanged):
        require_writable(lake.branches.fresh_repository(repository), force=lake.force)
        branches.create_branch(seen.tables, branch)
    return branch


def delete_branch(lake: Lake, repository: Repository, name: BranchName) -> None:
    """Remove a branch with all that is staged on it; its commits stay.

    The tokens are noted first, and only a record that named them is removed (H10, H18): a branch
    of the same name that was made meanwhile shares no token with ours and is left alone. The head
    goes into the clock index before: nobody finds the tip of a line that has no owner.
    Raises: NotFound; Refused, code default-branch, protected-branch or read-only-repository.
    """
    stored = _deletable(lake, repository, name)
    seen = set(tokens_of(stored.record))
    for _ in range(ATTEMPTS):
        try:
            delete_seen_branch(lake, repository, stored)
        except Conflict:
            stored = _deletable(lake, repository, name)
            if seen.isdisjoint(tokens_of(stored.record)):
                raise Conflict(
                    f"branch {name!r} changed beyond recognition while it was deleted; look at it"
                ) from None
            seen.update(tokens_of(stored.record))
            continue
        return
    raise Conflict(f"branch {name!r} was changed by others {ATTEMPTS} times; delete it again")


def delete_seen_branch(lake: Lake, repository: Repository, stored: Stored[Branch]) -> None:
    """Remove a branch exactly as it was read. Raises Conflict when it was changed; NotFound."""
    tables, branch = lake.tables(repository), stored.record
    head = tables.commits.get(branch.commit_id.encode()).record
    ClockIndex.of(lake.store, repository).place(head)
    note_tokens(lake.store, lake.environment, repository, branch.branch_id, tokens_of(branch))
    branches.delete_branch(tables, stored)


def _deletable(lake: Lake, repository: Repository, name: BranchName) -> BranchRead:
    stored = lake.branches.fresh(repository, name)
    require_allowed(stored.repository, name, Action.DELETE, force=lake.force)
    if name == stored.repository.default_branch:
        message = f"{name!r} is the default branch of {repository.repository_id!r}; keep it"
        raise Refused(message, code="default-branch", branch=name)
    return stored
