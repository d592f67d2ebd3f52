# SPDX-License-Identifier: Apache-2.0
"""What a repository's own record forbids: read-only repositories, protected and owned branches.

A read-only repository refuses every change, its deletion too, but the end of being read-only;
lakeFS lets a caller insist (`force`), and so does `Lake.forcing`. A protection rule names branches
by a pattern and blocks staging_write, commit, or both. Nobody can insist against a rule.

    action         blocked by a rule against          lakeFS
    write, reset   staging_write                      the same
    commit         commit                             the same
    revert, pick   commit                             allowed
    import         commit                             allowed
    hard reset     either                             the same
    merge          nothing: it is the way in          the same
    delete         either                             allowed
    publish        nothing: what a pipeline's jobs do

A branch that a pipeline owns takes nothing but what its jobs publish. Who insists may change it all
the same: the pipeline's next job finds that the head is not its own, and makes its output again.

Who asks holds a record that was just read, so that a rule acknowledged by one server binds all
others (H14):

    fresh = lake.branches.fresh(repository, name)
    require_allowed(fresh.repository, name, Action.COMMIT, force=lake.force)

A request that was let through before a rule was stored may still take effect after it.
"""

from enum import Enum
from fnmatch import fnmatchcase

from lochan.errors import Refused
from lochan.model.ids import BranchName
from lochan.model.records import BlockedAction, Repository

_WRITES = frozenset({BlockedAction.STAGING_WRITE})
_COMMITS = frozenset({BlockedAction.COMMIT})


class Action(Enum):
    """What somebody wants to do to a branch: its words, and what kinds of rule block it."""

    WRITE = ("write to", _WRITES)
    RESET = ("reset", _WRITES)
    COMMIT = ("commit to", _COMMITS)
    REVERT = ("revert on", _COMMITS)
    CHERRY_PICK = ("cherry-pick to", _COMMITS)
    IMPORT = ("import to", _COMMITS)
    HARD_RESET = ("move", _WRITES | _COMMITS)
    MERGE = ("merge into", frozenset[BlockedAction]())
    DELETE = ("delete", _WRITES | _COMMITS)
    PUBLISH = ("publish on", frozenset[BlockedAction]())

    def __init__(self, words: str, blocked_by: frozenset[BlockedAction]) -> None:
        """Keep what the value says."""
        self.words = words
        self.blocked_by = blocked_by


def require_allowed(
    repository: Repository, branch: BranchName, action: Action, *, force: bool = False
) -> None:
    """Refuse what the repository's record forbids on a branch.

    Raises: Refused, code read-only-repository, protected-branch or owned-branch.
    """
    require_writable(repository, force=force)
    owner = repository.branch_owners.get(branch)
    if owner is not None and action is not Action.PUBLISH and not force:
        message = f"cannot {action.words} branch {branch!r}, which pipeline {owner!r} owns"
        raise Refused(message, code="owned-branch", branch=branch, pipeline=owner)
    for rule in repository.branch_protection:
        if not action.blocked_by.isdisjoint(rule.blocked_actions) and fnmatchcase(
            branch, rule.pattern
        ):
            message = f"cannot {action.words} protected branch {branch!r} (rule {rule.pattern!r})"
            raise Refused(message, code="protected-branch", branch=branch, pattern=rule.pattern)


def require_writable(repository: Repository, *, force: bool = False) -> None:
    """Refuse a change to a read-only repository. Raises Refused, code read-only-repository."""
    if repository.read_only and not force:
        message = f"repository {repository.repository_id!r} is read-only; make it writable first"
        raise Refused(message, code="read-only-repository", repository=repository.repository_id)


def is_allowed(
    repository: Repository, branch: BranchName, action: Action, *, force: bool = False
) -> bool:
    """Say whether `require_allowed` would let an action through."""
    try:
        require_allowed(repository, branch, action, force=force)
    except Refused:
        return False
    return True
