# SPDX-License-Identifier: Apache-2.0
"""Cancel an open commit: it has failed, with a reason, and is nobody's parent (F6).

One that is being finished may be published at this very moment. Then the commit stands, whatever
was said here: who asks for it, finishes it or cancels it again learns that, and the last two have
its record say so.
"""

from lochan.errors import InvalidInput
from lochan.model.ids import OpenCommitId
from lochan.model.records import Repository
from lochan.operations.lake import Lake
from lochan.operations.open_commits.published import close, find_published
from lochan.operations.open_commits.writing import not_open
from lochan.refs.open_commits import State, get_open_commit, state_of


def cancel_commit(
    lake: Lake, repository: Repository, open_id: OpenCommitId, error: str = "cancelled"
) -> None:
    """Give up a commit that is open, or whose finishing did not come to its end.

    Raises: NotFound; Conflict, code not-open, for one that is finished or failed; InvalidInput for
    an empty reason.
    """
    if not error:
        raise InvalidInput("say why the commit failed", code="reason-needed")
    opened = get_open_commit(lake.store, repository, open_id).record
    if state_of(opened) is State.PUBLISHED:
        raise not_open(opened)
    made = find_published(lake, repository, opened)
    if made is None:
        if state_of(opened) is State.FAILED:
            raise not_open(opened)
        close(lake, repository, opened, error=error)
        return
    close(lake, repository, opened, commit_id=made.id)
    raise not_open(get_open_commit(lake.store, repository, open_id).record)
