# SPDX-License-Identifier: Apache-2.0
"""The writer's protocol (seed 004): write under the branch's token, then see that it still is.

        read the branch (as last seen)  ->  token t
        write under t
        read the branch again, fresh    ->  token t: done; another token: write again under that

A commit that began meanwhile has sealed t, and may have scanned it before our write came. So the
write is repeated under the new token; the same identity twice is one change. A write that came in
time is then in the commit and staged again, which changes nothing (G8).
"""

from collections.abc import Callable

from lochan.errors import Unavailable
from lochan.model.ids import BranchName, StagingToken
from lochan.model.records import Repository
from lochan.operations.lake import Lake

# A writer repeats only if a seal fell between its two reads (G11), so that this bounds nothing but
# a store that answers nonsense.
ATTEMPTS = 100


def stage(
    lake: Lake, repository: Repository, branch: BranchName, write: Callable[[StagingToken], None]
) -> None:
    """Run `write` under tokens until one was current before and after it.

    Raises: what `write` raises; NotFound for the branch; RepositoryDeleting.
    """
    token = lake.branches.seen(repository, branch).record.staging_token
    for _ in range(ATTEMPTS):
        write(token)
        current = lake.branches.fresh(repository, branch).record.staging_token
        if current == token:
            return
        token = current
    raise Unavailable(f"branch {branch!r} was sealed {ATTEMPTS} times meanwhile; try again")
