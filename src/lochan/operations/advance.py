# SPDX-License-Identifier: Apache-2.0
"""Move a branch by a commit that does not come from its own staged writes: merge, revert and such.

What is staged is sealed first: rows that change nothing would be changes over another head, and
undo what was brought. Sealed, they go with the swap that moves the head, and what does change
something is carried along under the new head (H7). The branch must be clean when it begins, unless
it is allowed to be dirty; what is staged later stays staged. The rest is in `move`.
"""

from lochan.errors import InvalidInput
from lochan.model.ids import BranchName
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.allowed import Action, require_allowed
from lochan.operations.lake import Lake
from lochan.operations.move import move
from lochan.operations.request import Make, Request, Said
from lochan.operations.seal import seal
from lochan.operations.uncommitted_changes import UncommittedChanges
from lochan.operations.view import read_stably, tokens_of
from lochan.staging.sealed import Tokens


def advance(
    lake: Lake,
    repository: Repository,
    name: BranchName,
    said: Said,
    make: Make,
    *,
    action: Action,
    allow_dirty: bool = False,
) -> Commit:
    """Publish what `make` makes of the head; it is asked again when the head has moved.

    Raises: InvalidInput (code dirty-branch), Refused, what `make` raises, Conflict when others
    always came first.
    """
    began = lake.branches.fresh(repository, name)
    require_allowed(began.repository, name, action, force=lake.force)
    if allow_dirty:
        seal(lake, repository, name)
    else:
        settle(lake, repository, name)
    wanted = Request(said, began, make, action=action, force=lake.force)
    return move(lake, repository, name, wanted)


def settle(lake: Lake, repository: Repository, name: BranchName) -> None:
    """Refuse a branch with uncommitted changes, and seal staged rows that change nothing.

    Sealed, they go with the compare-and-swap that moves the head (H7). One by one they could not be
    taken back: what they hide, in a sealed token or under a head that has moved, would come up.
    Raises: InvalidInput, code dirty-branch, also for what came in before the sealing.
    """

    def look(branch: Branch) -> tuple[bool, bool]:
        unstaged = lake.staging.is_empty(branch.staging_token)
        return is_dirty(lake, repository, branch, tokens_of(branch)), unstaged

    # While tokens are scanned they may be compacted and wiped, so the look must be stable (H2).
    dirty, unstaged = read_stably(lake, repository, name, look)
    if not dirty and not unstaged:
        seal(lake, repository, name)
        dirty = read_stably(
            lake,
            repository,
            name,
            lambda branch: is_dirty(lake, repository, branch, branch.sealed_tokens),
        )
    if dirty:
        raise dirty_branch(name)


def is_dirty(lake: Lake, repository: Repository, branch: Branch, tokens: Tokens) -> bool:
    """Say whether compacted base and tokens of a branch differ from what is committed.

    The answer holds only if the record is still the same afterwards. Raises when a scan fails (H9).
    """
    changes = UncommittedChanges(lake, repository, branch, tokens=tokens)
    changes.seek(b"")
    return changes.next() is not None


def dirty_branch(name: BranchName) -> InvalidInput:
    """Make the error for a branch with uncommitted changes."""
    message = f"branch {name!r} has uncommitted changes; commit or reset them first"
    return InvalidInput(message, code="dirty-branch", branch=name)
