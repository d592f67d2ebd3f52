# SPDX-License-Identifier: Apache-2.0
"""Cancel an open commit: it has failed, with a reason, and is nobody's parent (F6).

One that is being finished may be published at this very moment. Then the commit stands, whatever
was said here: who asks for it, finishes it or cancels it again learns that, and the last two have
its record say so.

The repository is looked at once more after the record has been written: one that was made read-only
meanwhile may have been copied without it, and what was not copied is not acknowledged.
"""

from lochan.errors import InvalidInput
from lochan.model.ids import OpenCommitId
from lochan.model.records import Repository
from lochan.operations.allowed import require_writable
from lochan.operations.lake import Lake
from lochan.operations.open_commits.published import close, find_published
from lochan.operations.open_commits.writing import not_open
from lochan.refs.open_commits import State, get_open_commit, state_of
from lochan.refs.outcomes import begun


def cancel_commit(
    lake: Lake, repository: Repository, open_id: OpenCommitId, error: str = "cancelled"
) -> None:
    """Give up a commit that is open, or whose finishing did not come to its end.

    Raises: NotFound; Conflict, code not-open, for one that is finished or failed; InvalidInput for
    an empty reason; RepositoryDeleting, RepositoryNotFound; Refused for a read-only repository. One
    that became read-only meanwhile may say that the commit failed, or not.
    """
    if not error:
        raise InvalidInput("say why the commit failed", code="reason-needed")
    opened = get_open_commit(lake.store, repository, open_id).record
    if state_of(opened) is State.PUBLISHED:
        raise not_open(opened)
    _require_writable(lake, repository)
    made = find_published(lake, repository, opened)
    if made is None:
        if state_of(opened) is State.FAILED:
            raise not_open(opened)
        close(lake, repository, opened, error=error)
        with begun(f"cancelling commit {open_id}"):
            _require_writable(lake, repository)
        return
    close(lake, repository, opened, commit_id=made.id)
    raise not_open(get_open_commit(lake.store, repository, open_id).record)


def _require_writable(lake: Lake, repository: Repository) -> None:
    require_writable(lake.branches.fresh_repository(repository), force=lake.force)
