# SPDX-License-Identifier: Apache-2.0
"""The writer's protocol of an open commit: write under its token, then see that it still is open.

Whoever finishes a commit first marks its record, then scans the token. So a write that found the
record open after it is in the commit; one that did not may be in it or not, and its caller is told.
"""

from collections.abc import Callable

from lochan.errors import Conflict
from lochan.model.ids import OpenCommitId
from lochan.model.records import OpenCommit, Repository
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake
from lochan.refs.open_commits import State, get_open_commit, state_of
from lochan.refs.outcomes import begun


def require_open(lake: Lake, repository: Repository, open_id: OpenCommitId) -> OpenCommit:
    """Read a commit that files may be put into.

    Raises: NotFound; Conflict, code not-open; RepositoryDeleting, RepositoryNotFound, Refused.
    """
    opened = get_open_commit(lake.store, repository, open_id).record
    if state_of(opened) is not State.OPEN:
        raise not_open(opened)
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
    return opened


def write_open(
    lake: Lake,
    repository: Repository,
    open_id: OpenCommitId,
    write: Callable[[OpenCommit], None],
) -> None:
    """Run `write` on an open commit that is still open afterwards.

    Raises: what `require_open` and `write` raise. Conflict after the write: it may be in the
    commit, or not.
    """
    write(require_open(lake, repository, open_id))
    with begun(f"a write to commit {open_id}"):
        require_open(lake, repository, open_id)


def not_open(opened: OpenCommit) -> Conflict:
    """Make the error for a commit that takes no files any more."""
    message = f"commit {opened.id} is {state_of(opened)}; start another one"
    return Conflict(message, code="not-open", open_commit=opened.id, commit_id=opened.commit_id)
