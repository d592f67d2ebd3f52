# SPDX-License-Identifier: Apache-2.0
"""Move a branch by a commit that does not come from its own staged writes: merge, revert and such.

1. the branch must be clean when it begins; what is staged later stays staged
2. sealed tokens are proved to change nothing, and go in the same compare-and-swap; those that
   hold data belong to a commit under way, which is finished first (H7)
3. the caller makes a tree from the head; it is published, or made again if the head moved
"""

from collections.abc import Callable

from lochan.errors import Conflict, InvalidInput
from lochan.kernel.records import Record
from lochan.model.ids import BranchName
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.commit import CommitRequest, commit_tokens
from lochan.operations.lake import Lake
from lochan.operations.publish import Candidate, Said, publish
from lochan.operations.view import committed_tree, tokens_of
from lochan.staging.fold import folded
from lochan.staging.sealed import Tokens

ATTEMPTS = 100

# Given the head and the tokens that go with it: the tree to move to, and what it descends from.
Make = Callable[[Commit, Tokens], Candidate]


def advance(
    lake: Lake,
    repository: Repository,
    name: BranchName,
    said: Said,
    make: Make,
    *,
    allow_dirty: bool = False,
) -> Commit:
    """Publish what `make` makes of the head; `make` runs again when the head has moved.

    Raises: InvalidInput (code dirty-branch), what `make` raises, Conflict when others always came
    first.
    """
    if not allow_dirty:
        _require_clean(lake, repository, lake.branches.fresh(repository, name).record)
    commits = lake.tables(repository).commits
    for _ in range(ATTEMPTS):
        stored = lake.branches.fresh(repository, name)
        sealed = stored.record.sealed_tokens
        if _change_something(lake, repository, stored.record, sealed):
            _finish_commit(lake, repository, name, sealed)
            continue
        head = commits.get(stored.record.commit_id.encode()).record
        made = publish(lake, repository, stored, make(head, sealed), said)
        if made is not None:
            return made
    raise Conflict(f"branch {name!r} was changed by others {ATTEMPTS} times; try again")


def _require_clean(lake: Lake, repository: Repository, branch: Branch) -> None:
    if _change_something(lake, repository, branch, tokens_of(branch)):
        raise InvalidInput(
            f"branch {branch.branch_id!r} has uncommitted changes; commit or reset them first",
            code="dirty-branch",
        )


def _change_something(lake: Lake, repository: Repository, branch: Branch, tokens: Tokens) -> bool:
    """Say whether any staged row differs from what is committed. Raises when a scan fails (H9)."""
    snapshots = lake.storage(repository.storage_namespace).snapshots
    tree = committed_tree(lake, repository, branch)
    return any(
        _identity(snapshots.get(tree, row.key)) != row.identity
        for row in folded(lake.staging, tokens)
    )


def _identity(record: Record | None) -> bytes:
    return b"" if record is None else record.identity


def _finish_commit(lake: Lake, repository: Repository, name: BranchName, tokens: Tokens) -> None:
    """Help a commit that has sealed its tokens and not come to its end."""
    commit_tokens(lake, repository, name, tokens, CommitRequest("", "", allow_empty=True))
