# SPDX-License-Identifier: Apache-2.0
"""The writer's protocol (seed 004): write under the branch's token, then see that it still is.

        read the branch (as last seen)  ->  token t
        write under t
        read the branch again, fresh    ->  token t: done; another token: write again under that

A commit that began meanwhile has sealed t, and may have scanned it before our write came. So the
write is repeated under the new token; the same identity twice is one change. A write that came in
time is then in the commit and staged again, which changes nothing (G8).

What the repository forbids (`allowed`) is asked before the write and after it. A rule that only the
fresh read shows was stored while we wrote, or less than a second before: the caller is refused, and
the row may stay staged, as that of any write that failed (G5).
"""

from collections.abc import Callable, Iterable

from lochan.errors import UnknownOutcome
from lochan.model.ids import BranchName, StagingToken
from lochan.model.keys import token_partition
from lochan.model.records import Repository, StagedEntry
from lochan.operations.allowed import Action, is_allowed, require_allowed
from lochan.operations.branch_reads import BranchRead
from lochan.operations.lake import Lake
from lochan.refs.outcomes import begun
from lochan.staging.area import staged_rows

# A writer repeats only if a seal fell between its two reads (G11), so that this bounds nothing but
# a store that answers nonsense.
ATTEMPTS = 100


def stage(
    lake: Lake, repository: Repository, branch: BranchName, write: Callable[[StagingToken], None]
) -> None:
    """Run `write` under tokens until one was current before and after it.

    Raises: what `write` raises; NotFound for the branch; RepositoryDeleting; Refused, for a
    protected branch or a read-only repository.
    """

    def write_and_read(token: StagingToken) -> BranchRead:
        write(token)
        with begun(f"a write to branch {branch!r}"):
            return lake.branches.fresh(repository, branch)

    _stage(lake, repository, branch, write_and_read)


def stage_rows(
    lake: Lake, repository: Repository, branch: BranchName, entries: Iterable[StagedEntry]
) -> None:
    """Stage writes and tombstones, over what is there; each is atomic, all together are not.

    Raises: as `stage`.
    """
    rows = staged_rows(entries)

    def write_and_read(token: StagingToken) -> BranchRead:
        return lake.branches.fresh_after(repository, branch, token_partition(token), rows)

    _stage(lake, repository, branch, write_and_read)


def _stage(
    lake: Lake,
    repository: Repository,
    branch: BranchName,
    write_and_read: Callable[[StagingToken], BranchRead],
) -> None:
    token = seen_writable(lake, repository, branch).record.staging_token
    current = write_and_read(token)
    for _ in range(ATTEMPTS):
        require_allowed(current.repository, branch, Action.WRITE, force=lake.force)
        if current.record.staging_token == token:
            return
        token = current.record.staging_token
        with begun(f"a write to branch {branch!r}"):  # the token before may be committed with it
            current = write_and_read(token)
    raise UnknownOutcome(f"branch {branch!r} was sealed {ATTEMPTS} times meanwhile; try again")


def seen_writable(lake: Lake, repository: Repository, branch: BranchName) -> BranchRead:
    """Give a branch as last seen, and refuse one that takes no writes, before any are made.

    A rule that was taken away less than a second ago must not refuse, so a refusal is always by a
    fresh record. Raises NotFound, Refused.
    """
    seen = lake.branches.seen(repository, branch)
    if not is_allowed(seen.repository, branch, Action.WRITE, force=lake.force):
        seen = lake.branches.fresh(repository, branch)
        require_allowed(seen.repository, branch, Action.WRITE, force=lake.force)
    return seen
